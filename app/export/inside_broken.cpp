#include "app/export/inside_broken.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/inside/source.h"
#include "cuda/host/gpu.h"

#include <algorithm>

namespace tilewalk {

using inside::BankTotals;
using inside::Damage;
using inside::Fault;
using inside::Record;
using inside::WrongCell;

std::string meaning_of(const Fault& fault) {
    for (const EmbeddedFile& file : gpu::kernel_sources())
        if (fault.file.ends_with(std::string("/") + file.name)) {
            std::string words = inside::remark_on(inside::source_text(fault.file, file.text), fault.line);
            if (!words.empty()) return words;
        }
    return inside::info(fault.kind).what;
}

namespace {

std::string cell_text(const char* which, const WrongCell& cell) {
    const std::size_t head = std::min(cell.output.find(" of head"), cell.output.size());
    return std::string(which) + ": " + cell.output.substr(0, head) + "[" + str(cell.row) + ", " +
           str(cell.column) + "]" + cell.output.substr(head) + " is " + format_number(cell.broken) +
           " in place of " + format_number(cell.sound);
}

std::string outputs_of(const Record& record) {
    std::vector<std::string> names;
    for (const inside::Output& one : record.outputs) names.push_back(one.name);
    return joined(names, ", ");
}

}  // namespace

BrokenWords words_of_broken(const Record& sound, const Record& record, const Damage& damage, int tried) {
    BrokenWords words;
    words.fault = inside::title_of(*record.fault) + " (" + inside::name_of(*record.fault) +
                  "): " + meaning_of(*record.fault);
    words.order = inside::schedule_text(record.schedule) + "; " + counted(tried, "order") + " tried";
    words.numbers = outputs_of(record) + ": " + inside::damage_text(damage);
    if (damage.wrong == 0 && record.races() > record.lost_turns())
        words.numbers += " in " + (tried == 1 ? "this order" : "each of " + str(tried) + " orders") +
                         ", by luck: nothing makes them so";
    if (damage.first) words.cells.push_back(cell_text("the first", *damage.first));
    if (damage.worst) words.cells.push_back(cell_text("the worst", *damage.worst));
    const BankTotals before = inside::bank_totals(sound), now = inside::bank_totals(record);
    if (now.turns != before.turns)
        words.banks = "turns of the banks: " + format_count(now.turns) + " in place of " +
                      format_count(before.turns) + ", up to " + counted(now.ways, "way") + " of conflict";
    return words;
}

std::string broken_head(const BrokenWords& words) {
    return "broken: " + words.fault + "\norder: " + words.order + "\n";
}

std::string broken_end(const BrokenWords& words) {
    std::string text = "\n" + words.numbers + "\n";
    for (const std::string& cell : words.cells) text += "    " + cell + "\n";
    return text + (words.banks.empty() ? "" : words.banks + "\n");
}

}  // namespace tilewalk
