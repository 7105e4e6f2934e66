// What the text of kernels says of calls: which functions there are, and at which lines each of them is
// called.
#pragma once

#include "core/inside/source.h"

#include <deque>
#include <string>

namespace tilewalk::inside {

struct Function {
    const SourceText* source = nullptr;
    std::string name;
    int begin = 0;        ///< its first line
    bool kernel = false;  ///< launched, and not called
    bool loops = false;
    int parameters = 0, needed = 0;  ///< needed: without those that have a default
};

struct CallSite {
    const Function *caller = nullptr, *callee = nullptr;
    int line = 0;
    int statement = 0;               ///< the line that the statement around it begins in
    std::vector<std::string> names;  ///< what the call names: "Kj", "a", "K"
};

class CallSites {
public:
    /// `recorded`: what stands in RECORD( ) is called, too.
    CallSites(std::vector<const SourceText*> sources, bool recorded);
    CallSites(const CallSites&) = delete;
    CallSites& operator=(const CallSites&) = delete;

    /// Null: the line stands in none.
    const Function* function_at(const SourceText& source, int line) const;
    std::vector<const CallSite*> of(const Function& callee) const;
    static int statement_of(const SourceText& source, int line);
    const std::vector<const SourceText*>& sources() const { return texts; }

private:
    void find_functions();
    void find_calls(bool recorded);
    std::vector<const SourceText*> texts;
    std::deque<Function> functions;
    std::deque<CallSite> sites;
};

}  // namespace tilewalk::inside
