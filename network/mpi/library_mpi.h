// What the Go side calls. All functions but dsbo_memory belong to the thread that called dsbo_init.
#ifndef DSBO_LIBRARY_MPI_H
#define DSBO_LIBRARY_MPI_H

#include <mpi.h>
#include <stdint.h>

enum { DSBO_HEAD_WORDS = 5, DSBO_NOTICE_WORDS = 32 };

// What a call, or an operation of a channel, came to.
enum { DSBO_PENDING, DSBO_DONE, DSBO_UNLIKE, DSBO_LEFT, DSBO_FAILED, DSBO_STARTED_BEFORE, DSBO_NO_THREADS };

// Stages of a channel: no other rank has heard of an operation up to DSBO_IDLE.
enum { DSBO_QUEUED, DSBO_OPENING, DSBO_IDLE, DSBO_HEAD, DSBO_WORDS, DSBO_NEWS, DSBO_ENDED };

// A dsbo_channel combines or swaps words of all ranks, one operation after another. Each begins with a head that says what each rank
// does: only where all heads agree, words follow. The last head of a rank says that it has left, and its notice follows, so that none
// waits for its words.
struct dsbo_channel {
	struct dsbo_channel *next;
	MPI_Comm comm;
	MPI_Request request;
	int stage;
	int wanted;   // has an operation that is not done yet
	int leaves;   // will have no more
	int released; // its memory is free as soon as MPI does not use it
	int state;    // what the operation came to, until Go has taken that
	const char *function; // of MPI, that has failed
	int error;            // which it returned
	uint64_t head[DSBO_HEAD_WORDS], notice[DSBO_NOTICE_WORDS];
	void *out, *in; // words of this rank, and of a swap what comes
	int64_t room[2];
	int *vectors;    // of a swap: to each rank, and from each rank
	int op, width, count; // of a sum, or the length of the vectors of a swap
	int64_t kind;         // what else must be alike; DSBO_SWAP of a swap
};

enum { DSBO_SWAP = 1 };

struct dsbo_world {
	MPI_Comm comm;
	MPI_Comm parent; // of the channels' communicators: opening one and leaving are collective, and ranks may do them in another order
	int rank, size;
	int32_t interrupted; // atomic: Go writes it at any time
	struct dsbo_channel *channels; // in the order in which all ranks open them
	int leaving;
	MPI_Request left;
	const char *function; // of MPI, that has failed
	int error;
};

int dsbo_init(struct dsbo_world **world);
struct dsbo_channel *dsbo_open(struct dsbo_world *w, const int *vectors);
int dsbo_memory(struct dsbo_channel *c, int64_t out, int64_t in);
int dsbo_poll(struct dsbo_world *w, int64_t nanos);
int dsbo_leave(struct dsbo_world *w, int64_t nanos);

#endif
