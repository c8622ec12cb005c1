// What the Go side calls. All functions belong to the thread that called dsbo_init.
#ifndef DSBO_LIBRARY_MPI_H
#define DSBO_LIBRARY_MPI_H

#include <mpi.h>
#include <stdint.h>

enum { DSBO_NOTICE_WORDS = 32 };

// What a call found. Values below 0 are failures: error and where then say what happened.
enum { DSBO_PENDING, DSBO_DONE, DSBO_NOTICED, DSBO_FAILED = -1, DSBO_OTHER_LENGTH = -2, DSBO_STARTED_BEFORE = -3, DSBO_NO_THREADS = -4,
	DSBO_UNLIKE = -5 };

struct dsbo_message {
	void *words;
	int count, peer, send;
	int after; // the receive before this one from the same rank, -1 for the first
	int found; // of a receive: MPI has been told where to put it
	int done;
};

struct dsbo_loose; // a notice on its way, or a message that nobody wants

struct dsbo_transfer {
	struct dsbo_transfer *next; // among the dropped ones
	int tag, count, left, posted;
	struct dsbo_message *messages;
	MPI_Request *requests; // of the messages, in their order
	MPI_Status *statuses;
	int *indices;
};

enum { DSBO_HEAD_WORDS = 5 };

// A dsbo_sum combines words of all ranks, one set after another. Each begins with a head that says what each rank combines: only where
// all heads agree, words follow. The last head of a rank says that it has left, so that none waits for its words.
struct dsbo_sum {
	struct dsbo_sum *next;  // among the closed ones
	struct dsbo_sum *later; // among those that have no communicator yet
	MPI_Comm comm;
	MPI_Request request;
	int stage;
	int wanted;  // has words that are not combined yet
	int closed;  // will have no more
	uint64_t head[DSBO_HEAD_WORDS];
	void *words;
	int64_t room; // bytes that words may have
	int op, width, count;
	int64_t kind; // what else must be alike
};

struct dsbo_world {
	MPI_Comm comm;
	MPI_Comm parent; // of the sums' communicators: opening one and leaving are collective, and ranks may do them in another order
	int rank, size, last_tag;
	int32_t interrupted; // atomic: Go writes it at any time
	MPI_Request incoming;
	uint64_t arriving[DSBO_NOTICE_WORDS], notice[DSBO_NOTICE_WORDS];
	struct dsbo_loose *loose;
	struct dsbo_transfer *dropped;                 // of which something is still under way
	struct dsbo_sum *opening;                      // in the order in which all ranks open them
	struct dsbo_sum *closed;                       // whose last head is not with all ranks yet
	int64_t received, all, *sent, *expected; // messages: so far, in the end, to each rank, from each rank
	MPI_Request leaving;
	int left;               // how far dsbo_leave is
	int error;              // of MPI
	const char *function;   // that returned it
	int where, words;       // which message has another length, and that
};

int dsbo_init(struct dsbo_world **world);
struct dsbo_transfer *dsbo_new_transfer(int count);
struct dsbo_sum *dsbo_new_sum(struct dsbo_world *w);
void *dsbo_sum_words(struct dsbo_sum *s, int64_t bytes);
void dsbo_close_sum(struct dsbo_world *w, struct dsbo_sum *s);
int dsbo_poll(struct dsbo_world *w, struct dsbo_transfer *t, struct dsbo_sum *s, int64_t nanos);
int dsbo_drop(struct dsbo_world *w, struct dsbo_transfer *t, int64_t nanos);
int dsbo_tell(struct dsbo_world *w, int rank, const uint64_t *notice);
int dsbo_leave(struct dsbo_world *w, int64_t nanos);

#endif
