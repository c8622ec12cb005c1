//go:build mpi && cgo

#include "library_mpi.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIGNALS = 65 };

// CHECK notes an error of MPI in a channel or the world.
#define CHECK(x, name, call) \
	do { \
		int error_ = (call); \
		if (error_ != MPI_SUCCESS) { \
			(x)->function = name; \
			(x)->error = error_; \
			return DSBO_FAILED; \
		} \
	} while (0)

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// rest lets others have the processor. Who waits for long sleeps.
static void rest(int idle) {
	if (idle < 200) {
		sched_yield();
		return;
	}
	struct timespec t = {0, idle < 400 ? 20000 : 100000};
	nanosleep(&t, NULL);
}

// start runs MPI_Init_thread and leaves the signals to Go: its handlers are what makes panics of bad
// pointers, and Open MPI replaces some.
static int start(void) {
	struct sigaction before[SIGNALS], after;
	int known[SIGNALS], provided;
	for (int s = 1; s < SIGNALS; s++)
		known[s] = sigaction(s, NULL, &before[s]) == 0;
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
		return DSBO_FAILED;
	for (int s = 1; s < SIGNALS; s++)
		if (known[s] && sigaction(s, NULL, &after) == 0 && after.sa_sigaction != before[s].sa_sigaction)
			sigaction(s, &before[s], NULL);
	return provided < MPI_THREAD_FUNNELED ? DSBO_NO_THREADS : DSBO_DONE;
}

int dsbo_init(struct dsbo_world **world) {
	struct dsbo_world *w = *world = calloc(1, sizeof *w);
	int before;
	CHECK(w, "MPI_Initialized", MPI_Initialized(&before));
	if (before)
		return DSBO_STARTED_BEFORE;
	int state = start();
	if (state != DSBO_DONE)
		return state;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK(w, "MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &w->comm));
	MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
	CHECK(w, "MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &w->parent));
	MPI_Comm_set_errhandler(w->parent, MPI_ERRORS_RETURN);
	MPI_Comm_rank(w->comm, &w->rank);
	MPI_Comm_size(w->comm, &w->size);
	return DSBO_DONE;
}

// What the words of a head say. Of all ranks' heads the largest words remain: two numbers agree if each and what it lacks to ALIKE do.
// HEAD_LEFT is the largest at the lowest rank that has left.
enum { HEAD_LEFT, HEAD_KIND, HEAD_KIND_REST, HEAD_COUNT, HEAD_COUNT_REST };
static const uint64_t ALIKE = UINT64_C(1) << 62;

struct dsbo_channel *dsbo_open(struct dsbo_world *w, const int *vectors) {
	struct dsbo_channel *c = calloc(1, sizeof *c), **last = &w->channels;
	c->vectors = malloc(4 * w->size * sizeof(int)); // counts to each rank and from each, and where these begin
	memcpy(c->vectors, vectors, 2 * w->size * sizeof(int));
	for (int i = 0, begin = 0; i < 2 * w->size; i++) {
		begin = i == w->size ? 0 : begin;
		c->vectors[2 * w->size + i] = begin;
		begin += vectors[i];
	}
	while (*last != NULL)
		last = &(*last)->next;
	return *last = c;
}

// dsbo_memory makes room for words of this rank and words that come, of which those that are there are lost.
int dsbo_memory(struct dsbo_channel *c, int64_t out, int64_t in) {
	void **memory[] = {&c->out, &c->in};
	int64_t want[] = {out, in};
	for (int k = 0; k < 2; k++)
		if (want[k] > c->room[k]) {
			free(*memory[k]);
			if ((*memory[k] = malloc(want[k])) == NULL)
				return DSBO_FAILED;
			c->room[k] = want[k];
		}
	return DSBO_DONE;
}

// post_head says what this rank does next, or that it has left.
static int post_head(struct dsbo_world *w, struct dsbo_channel *c) {
	memset(c->head, 0, sizeof c->head);
	if (c->wanted) {
		c->head[HEAD_KIND] = c->kind;
		c->head[HEAD_KIND_REST] = ALIKE - c->kind;
		c->head[HEAD_COUNT] = c->count;
		c->head[HEAD_COUNT_REST] = ALIKE - c->count;
	} else {
		c->head[HEAD_LEFT] = w->size - w->rank;
	}
	CHECK(c, "MPI_Iallreduce",
		MPI_Iallreduce(MPI_IN_PLACE, c->head, DSBO_HEAD_WORDS, MPI_UINT64_T, MPI_MAX, c->comm, &c->request));
	c->stage = DSBO_HEAD;
	return DSBO_DONE;
}

// post_words combines or swaps the words, about which all heads agree.
static int post_words(struct dsbo_world *w, struct dsbo_channel *c) {
	c->stage = DSBO_WORDS;
	if (c->count == 0) {
		c->request = MPI_REQUEST_NULL;
		return DSBO_DONE;
	}
	if (c->kind != DSBO_SWAP) {
		MPI_Datatype type = c->width == 4 ? MPI_UINT32_T : MPI_UINT64_T;
		CHECK(c, "MPI_Iallreduce",
			MPI_Iallreduce(MPI_IN_PLACE, c->out, c->count, type, c->op ? MPI_MAX : MPI_SUM, c->comm, &c->request));
		return DSBO_DONE;
	}
	MPI_Datatype vector;
	int n = w->size, *v = c->vectors;
	CHECK(c, "MPI_Type_contiguous", MPI_Type_contiguous(c->count, MPI_UINT64_T, &vector));
	CHECK(c, "MPI_Type_commit", MPI_Type_commit(&vector));
	CHECK(c, "MPI_Ialltoallv",
		MPI_Ialltoallv(c->out, v, v + 2 * n, vector, c->in, v + n, v + 3 * n, vector, c->comm, &c->request));
	CHECK(c, "MPI_Type_free", MPI_Type_free(&vector));
	return DSBO_DONE;
}

// conclude says what the operation came to, if Go still asks.
static void conclude(struct dsbo_channel *c, int state) {
	if (c->wanted && !c->leaves)
		c->state = state;
	c->wanted = 0;
}

// read_head goes on by what all ranks do.
static int read_head(struct dsbo_world *w, struct dsbo_channel *c) {
	uint64_t *h = c->head;
	if (h[HEAD_LEFT]) {
		c->stage = DSBO_NEWS;
		CHECK(c, "MPI_Ibcast",
			MPI_Ibcast(c->notice, DSBO_NOTICE_WORDS, MPI_UINT64_T, w->size - (int)h[HEAD_LEFT], c->comm, &c->request));
		return DSBO_DONE;
	}
	if (h[HEAD_KIND] + h[HEAD_KIND_REST] == ALIKE && h[HEAD_COUNT] + h[HEAD_COUNT_REST] == ALIKE)
		return post_words(w, c);
	c->stage = DSBO_IDLE;
	conclude(c, DSBO_UNLIKE);
	return DSBO_DONE;
}

// step goes one step further: DSBO_PENDING if MPI has not, or nothing is to be done.
static int step(struct dsbo_world *w, struct dsbo_channel *c) {
	int flag;
	if (c->stage == DSBO_ENDED || (c->stage == DSBO_IDLE && !c->wanted && !c->leaves))
		return DSBO_PENDING;
	if (c->stage != DSBO_QUEUED && c->stage != DSBO_IDLE) {
		CHECK(c, "MPI_Test", MPI_Test(&c->request, &flag, MPI_STATUS_IGNORE));
		if (!flag)
			return DSBO_PENDING;
	}
	switch (c->stage) {
	case DSBO_QUEUED:
		CHECK(c, "MPI_Comm_idup", MPI_Comm_idup(w->parent, &c->comm, &c->request));
		c->stage = DSBO_OPENING;
		break;
	case DSBO_OPENING:
		MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
		c->stage = DSBO_IDLE;
		break;
	case DSBO_IDLE:
		return post_head(w, c);
	case DSBO_HEAD:
		return read_head(w, c);
	case DSBO_WORDS:
		c->stage = DSBO_IDLE;
		conclude(c, DSBO_DONE);
		break;
	case DSBO_NEWS:
		c->stage = DSBO_ENDED;
		conclude(c, DSBO_LEFT);
		break;
	}
	return DSBO_DONE;
}

// advance lets all channels go on as far as they can, frees those that have ended, and reports whether one is at work and whether one
// has something for Go. They open one after the other: Open MPI may wait for ever where several do at a time.
static void advance(struct dsbo_world *w, int *busy, int *news) {
	int opening = *busy = *news = 0, state;
	for (struct dsbo_channel **p = &w->channels, *c; (c = *p) != NULL;) {
		while (!(opening && c->stage == DSBO_QUEUED) && (state = step(w, c)) == DSBO_DONE)
			;
		opening = opening || c->stage < DSBO_IDLE;
		int failed = c->function != NULL;
		if (failed && c->stage != DSBO_ENDED) {
			conclude(c, DSBO_FAILED);
			c->stage = DSBO_ENDED;
		}
		*busy = *busy || (c->stage != DSBO_ENDED && (c->stage != DSBO_IDLE || c->wanted || c->leaves));
		*news = *news || c->state != DSBO_PENDING;
		if (c->stage != DSBO_ENDED || !c->released) {
			p = &c->next;
			continue;
		}
		*p = c->next;
		if (failed)
			continue; // MPI may still use its memory
		MPI_Comm_free(&c->comm);
		free(c->out);
		free(c->in);
		free(c->vectors);
		free(c);
	}
}

// dsbo_poll lets channels go on until one has something for Go, none is at work, or the time is over. It reports whether one is.
int dsbo_poll(struct dsbo_world *w, int64_t nanos) {
	int64_t end = now() + nanos;
	for (int idle = 0, busy, news;; idle++) {
		advance(w, &busy, &news);
		if (!busy || news || __atomic_load_n(&w->interrupted, __ATOMIC_SEQ_CST) || now() >= end)
			return busy;
		rest(idle);
	}
}

// try_leave ends MPI once all channels have ended, on all ranks.
static int try_leave(struct dsbo_world *w) {
	int flag, busy, news;
	advance(w, &busy, &news);
	if (w->channels != NULL)
		return DSBO_PENDING;
	if (!w->leaving)
		CHECK(w, "MPI_Ibarrier", MPI_Ibarrier(w->comm, &w->left));
	w->leaving = 1;
	CHECK(w, "MPI_Test", MPI_Test(&w->left, &flag, MPI_STATUS_IGNORE));
	if (!flag)
		return DSBO_PENDING;
	CHECK(w, "MPI_Comm_free", MPI_Comm_free(&w->parent));
	CHECK(w, "MPI_Comm_free", MPI_Comm_free(&w->comm));
	CHECK(w, "MPI_Finalize", MPI_Finalize());
	return DSBO_DONE;
}

int dsbo_leave(struct dsbo_world *w, int64_t nanos) {
	int64_t end = now() + nanos;
	for (int idle = 0;; idle++) {
		int state = try_leave(w);
		if (state != DSBO_PENDING || now() >= end)
			return state;
		rest(idle);
	}
}
