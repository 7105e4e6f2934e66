// A strict reader of the XML that the program writes: elements, attributes, text; no more than SVG needs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::test {

struct XmlElement {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;  ///< all characters inside, those of inner elements included
    int parent = -1;   ///< index; −1: the root

    float number(const std::string& attribute) const;  ///< NaN if there is none
};

struct Xml {
    std::vector<XmlElement> elements;
    std::string error;  ///< what is wrong and where; empty if the document is well-formed
};

/// Elements in the order of their start tags.
Xml read_xml(std::string_view document);

}  // namespace tilewalk::test
