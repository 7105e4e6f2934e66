// In place of mpi_transport.cpp where MPI was not found.
#include "core/distributed/mpi/mpi_transport.h"

#include <cstdlib>

namespace tilewalk::ring {

Result<std::unique_ptr<Transport>> mpi_transport() {
    return Failure{"This program was built without MPI; install libopenmpi-dev and openmpi-bin, then "
                   "configure and build again."};
}

void end_all_ranks(const std::string&, int exit_code) { std::_Exit(exit_code); }

}  // namespace tilewalk::ring
