// MPI as a transport. Without it at configure time the program says what is missing.
#pragma once

#include "core/base/result.h"
#include "core/distributed/transport.h"

namespace tilewalk::ring {

/// Was this process started by mpirun or srun, and not by hand?
bool started_as_rank();
/// The rank that mpirun says this process is, 0 without one: before MPI is there.
int rank_of_process();
/// The transport of this process, once. A sentence where the program was built without MPI, and where no
/// mpirun has started it.
Result<std::unique_ptr<Transport>> mpi_transport();
/// Ends all ranks after a failure, also those that hang. Rank 0 says why; another one only if rank 0 does not
/// end it soon. Does not return.
[[noreturn]] void end_all_ranks(const std::string& sentence, int exit_code);

}  // namespace tilewalk::ring
