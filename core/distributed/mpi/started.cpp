// What the environment of a process says of its rank
#include "core/distributed/mpi/mpi_transport.h"

#include <cstdlib>

namespace tilewalk::ring {

namespace {

// OpenMPI's mpirun, srun with PMIx, srun with PMI-2, MPICH's mpiexec
const char* word_of_rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
        if (const char* word = std::getenv(name)) return word;
    return nullptr;
}

}  // namespace

bool started_as_rank() { return word_of_rank() != nullptr; }
int rank_of_process() {
    const char* const word = word_of_rank();
    return word ? std::atoi(word) : 0;
}

}  // namespace tilewalk::ring
