// Package mpi exchanges between the processes of an MPI job, on one machine or many.
//
// # Building and running
//
// MPI is a C library, so it is asked for with a tag, and needs a C compiler, pkg-config and the
// headers of one MPI:
//
//	go build -tags mpi ./...          Open MPI (Debian: libopenmpi-dev), found as ompi-c
//	go build -tags mpi,mpich ./...    MPICH (Debian: libmpich-dev), found as mpich
//
// Without the tag, or without cgo, the package builds all the same and [Init]'s error names the
// missing part. A program is started by the launcher of the MPI that it was built with:
//
//	mpirun -n 8 ./program
//	srun --mpi=pmix -n 8 ./program
//
// Agents are dealt to ranks in order, several to a rank where there are fewer ranks. Open MPI binds
// each of up to two ranks to one core: a rank with several agents wants --bind-to none, or --map-by
// slot:PE=4 for four. More ranks than cores need --oversubscribe.
//
// # Threads
//
// MPI is started with MPI_THREAD_FUNNELED, by a goroutine that has its thread to itself and makes
// all calls. A call into C polls the operations of all exchanges until one is done, and sleeps
// briefly between polls when that takes long. What needs the thread meanwhile interrupts the call.
// Go's signal handlers, some of which MPI replaces when it starts, are put back.
//
// # Operations
//
// Ranks do two things together, on a communicator of the exchange's own. Mix swaps vectors by
// MPI_Ialltoallv, once the agents of a rank have theirs in place. Reduce combines the words of a
// rank's agents first and then the words of all ranks by MPI_Iallreduce, in words of 32 or 64 bits;
// Gather is such a sum, of which all ranks but one have zeros. Before, ranks exchange a head of
// five words that describes each rank's operation. If the heads differ, no words are exchanged and
// all ranks have an error; if a head announces that its rank has left, MPI_Ibcast distributes the
// reason, which becomes the other ranks' error. A rank completes each operation that it has
// announced, even if it has failed meanwhile, so that none is pending when MPI ends.
//
// # When something goes wrong
//
// No wait is without end. A rank that fails, or whose context ends, leaves, and the next Mix of the
// other ranks returns an [*network.EndedError]. Operations that it has begun are completed first,
// so that the outcome does not depend on timing. Lengths that differ, another matrix and another
// number of exchanges are found so. A rank that waits for another one for Options.Timeout leaves
// with a [*network.SilentError]; MPI does not say for which. A rank that dies, or exits before
// [World.Close], makes mpirun end the job within seconds, as srun --kill-on-bad-exit=1 does: start
// it again from a checkpoint. One that fails before [Init] calls [Abandon].
//
// Errors of MPI itself are returned where MPI returns them: the error handler is MPI_ERRORS_RETURN.
package mpi
