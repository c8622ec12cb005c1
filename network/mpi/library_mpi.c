//go:build mpi && cgo

#include "library_mpi.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOTICE_TAG = 0, SIGNALS = 65 };

// A dsbo_loose message belongs to no transfer.
struct dsbo_loose {
	struct dsbo_loose *next;
	MPI_Request request;
	uint64_t words[];
};

// failed notes an error of MPI.
static int failed(struct dsbo_world *w, const char *function, int error) {
	w->function = function;
	w->error = error;
	return DSBO_FAILED;
}

#define CHECK(w, function, call) \
	do { \
		int error_ = (call); \
		if (error_ != MPI_SUCCESS) \
			return failed(w, function, error_); \
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

static int expect_notice(struct dsbo_world *w) {
	CHECK(w, "MPI_Irecv", MPI_Irecv(w->arriving, DSBO_NOTICE_WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, NOTICE_TAG, w->comm, &w->incoming));
	return DSBO_DONE;
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
	int before, found, *last;
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
	CHECK(w, "MPI_Comm_get_attr", MPI_Comm_get_attr(w->comm, MPI_TAG_UB, &last, &found));
	w->last_tag = found ? *last : 32767; // the least that the standard allows
	w->sent = calloc(w->size, sizeof *w->sent);
	w->expected = calloc(w->size, sizeof *w->expected);
	return expect_notice(w);
}

struct dsbo_transfer *dsbo_new_transfer(int count) {
	struct dsbo_transfer *t = calloc(1, sizeof *t);
	t->count = count;
	t->messages = calloc(count, sizeof *t->messages);
	t->requests = calloc(count, sizeof *t->requests);
	t->statuses = calloc(count, sizeof *t->statuses);
	t->indices = calloc(count, sizeof *t->indices);
	for (int i = 0; i < count; i++)
		t->requests[i] = MPI_REQUEST_NULL;
	return t;
}

// isend counts what it sends.
static int isend(struct dsbo_world *w, const void *words, int count, int peer, int tag, MPI_Request *request) {
	int error = MPI_Isend(words, count, MPI_UINT64_T, peer, tag, w->comm, request);
	w->sent[peer] += error == MPI_SUCCESS;
	return error;
}

// new_loose returns one in the world's list.
static struct dsbo_loose *new_loose(struct dsbo_world *w, int words) {
	struct dsbo_loose *l = malloc(sizeof *l + sizeof l->words[0] * words);
	l->request = MPI_REQUEST_NULL;
	l->next = w->loose;
	return w->loose = l;
}

// post sends all sends. Receives wait until their message is found.
static int post(struct dsbo_world *w, struct dsbo_transfer *t) {
	t->posted = 1;
	t->left = t->count;
	for (int i = 0; i < t->count; i++)
		t->messages[i].found = t->messages[i].done = 0;
	for (int i = 0; i < t->count; i++) {
		struct dsbo_message *m = &t->messages[i];
		if (m->send)
			CHECK(w, "MPI_Isend", isend(w, m->words, m->count, m->peer, t->tag, &t->requests[i]));
	}
	return DSBO_PENDING;
}

// find looks for the message of receive i, and receives it if it has the right length. A receive that is
// posted before would save a copy of short messages, but Open MPI writes past the end of its memory when a long one is longer.
static int find(struct dsbo_world *w, struct dsbo_transfer *t, int i) {
	struct dsbo_message *m = &t->messages[i];
	int flag, count;
	MPI_Message message;
	MPI_Status status;
	CHECK(w, "MPI_Improbe", MPI_Improbe(m->peer, t->tag, w->comm, &flag, &message, &status));
	if (!flag)
		return DSBO_PENDING;
	m->found = 1;
	w->received++;
	CHECK(w, "MPI_Get_count", MPI_Get_count(&status, MPI_UINT64_T, &count));
	if (count == m->count) {
		CHECK(w, "MPI_Imrecv", MPI_Imrecv(m->words, count, MPI_UINT64_T, &message, &t->requests[i]));
		return DSBO_PENDING;
	}
	struct dsbo_loose *l = new_loose(w, count); // its sender waits until it is received
	CHECK(w, "MPI_Imrecv", MPI_Imrecv(l->words, count, MPI_UINT64_T, &message, &l->request));
	m->done = 1;
	t->left--;
	w->where = i;
	w->words = count;
	return DSBO_OTHER_LENGTH;
}

// test notes which messages of t are done. The first failure counts.
static int test(struct dsbo_world *w, struct dsbo_transfer *t) {
	int state = DSBO_PENDING, count, error = MPI_Testsome(t->count, t->requests, &count, t->indices, t->statuses);
	if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS)
		return failed(w, "MPI_Testsome", error);
	for (int k = 0; k < count; k++) { // MPI_UNDEFINED is below 0
		int i = t->indices[k], e = error == MPI_SUCCESS ? error : t->statuses[k].MPI_ERROR;
		t->messages[i].done = 1;
		t->left--;
		if (t->requests[i] != MPI_REQUEST_NULL) // Open MPI keeps what has failed
			MPI_Request_free(&t->requests[i]);
		if (e != MPI_SUCCESS && state == DSBO_PENDING)
			state = failed(w, t->messages[i].send ? "MPI_Isend" : "MPI_Imrecv", e);
	}
	return state == DSBO_PENDING && t->left == 0 ? DSBO_DONE : state;
}

// advance finds and tests. MPI keeps the messages between two ranks in order, so of one rank's the first is looked for first.
static int advance(struct dsbo_world *w, struct dsbo_transfer *t) {
	for (int i = 0; i < t->count; i++) {
		struct dsbo_message *m = &t->messages[i];
		if (m->send || m->found || (m->after >= 0 && !t->messages[m->after].found))
			continue;
		int state = find(w, t, i);
		if (state != DSBO_PENDING)
			return state;
	}
	return test(w, t);
}

// Stages of a sum.
enum { QUEUED, OPENING, IDLE, HEAD, WORDS, ENDED };

// What the words of a head say. Of all ranks' heads the largest words remain: two numbers agree if each and what it lacks to ALIKE do.
enum { HEAD_LEFT, HEAD_KIND, HEAD_KIND_REST, HEAD_COUNT, HEAD_COUNT_REST };
static const uint64_t ALIKE = UINT64_C(1) << 62;

struct dsbo_sum *dsbo_new_sum(struct dsbo_world *w) {
	struct dsbo_sum *s = calloc(1, sizeof *s), **last = &w->opening;
	while (*last != NULL)
		last = &(*last)->later;
	return *last = s;
}

// open_sums makes the communicators, one after the other: Open MPI may wait for ever where several are made at a time.
static int open_sums(struct dsbo_world *w) {
	for (struct dsbo_sum *s; (s = w->opening) != NULL; w->opening = s->later) {
		int flag;
		if (s->stage == QUEUED)
			CHECK(w, "MPI_Comm_idup", MPI_Comm_idup(w->parent, &s->comm, &s->request));
		s->stage = OPENING;
		CHECK(w, "MPI_Test", MPI_Test(&s->request, &flag, MPI_STATUS_IGNORE));
		if (!flag)
			return DSBO_PENDING;
		MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
		s->stage = IDLE;
	}
	return DSBO_PENDING;
}

void *dsbo_sum_words(struct dsbo_sum *s, int64_t bytes) {
	if (bytes > s->room) {
		free(s->words);
		s->words = malloc(bytes);
		s->room = bytes;
	}
	return s->words;
}

// post_head says what this rank combines next: its words, or that it has left.
static int post_head(struct dsbo_world *w, struct dsbo_sum *s) {
	memset(s->head, 0, sizeof s->head);
	if (s->wanted) {
		s->head[HEAD_KIND] = s->kind;
		s->head[HEAD_KIND_REST] = ALIKE - s->kind;
		s->head[HEAD_COUNT] = s->count;
		s->head[HEAD_COUNT_REST] = ALIKE - s->count;
	} else {
		s->head[HEAD_LEFT] = s->closed;
	}
	CHECK(w, "MPI_Iallreduce",
		MPI_Iallreduce(MPI_IN_PLACE, s->head, DSBO_HEAD_WORDS, MPI_UINT64_T, MPI_MAX, s->comm, &s->request));
	s->stage = HEAD;
	return DSBO_PENDING;
}

// post_words combines the words, about which all heads agree.
static int post_words(struct dsbo_world *w, struct dsbo_sum *s) {
	MPI_Datatype type = s->width == 4 ? MPI_UINT32_T : MPI_UINT64_T;
	CHECK(w, "MPI_Iallreduce",
		MPI_Iallreduce(MPI_IN_PLACE, s->words, s->count, type, s->op ? MPI_MAX : MPI_SUM, s->comm, &s->request));
	s->stage = WORDS;
	return DSBO_PENDING;
}

// step goes one step further if MPI has. It says that the words are combined, or that they are not alike, once.
static int step(struct dsbo_world *w, struct dsbo_sum *s) {
	int flag, wanted = s->wanted;
	if (s->stage < IDLE)
		return open_sums(w);
	CHECK(w, "MPI_Test", MPI_Test(&s->request, &flag, MPI_STATUS_IGNORE));
	if (!flag)
		return DSBO_PENDING;
	switch (s->stage) {
	case IDLE:
		return s->wanted || s->closed ? post_head(w, s) : DSBO_PENDING;
	case HEAD:
		if (s->head[HEAD_LEFT]) {
			s->stage = ENDED;
			return DSBO_PENDING; // its notice says why
		}
		if (s->head[HEAD_KIND] + s->head[HEAD_KIND_REST] == ALIKE && s->head[HEAD_COUNT] + s->head[HEAD_COUNT_REST] == ALIKE)
			return post_words(w, s);
		s->stage = IDLE;
		s->wanted = 0;
		return wanted ? DSBO_UNLIKE : DSBO_PENDING;
	case WORDS:
		s->stage = IDLE;
		s->wanted = 0;
		return wanted ? DSBO_DONE : DSBO_PENDING;
	}
	return DSBO_PENDING;
}

void dsbo_close_sum(struct dsbo_world *w, struct dsbo_sum *s) {
	s->closed = 1;
	if (s->stage <= IDLE)
		s->wanted = 0; // no other rank has heard of these words
	s->next = w->closed;
	w->closed = s;
}

// hear looks for a notice, and lets sums open.
static int hear(struct dsbo_world *w) {
	int flag, state = open_sums(w);
	if (state != DSBO_PENDING)
		return state;
	CHECK(w, "MPI_Test", MPI_Test(&w->incoming, &flag, MPI_STATUS_IGNORE));
	if (!flag)
		return DSBO_PENDING;
	memcpy(w->notice, w->arriving, sizeof w->notice);
	w->received++;
	return expect_notice(w) == DSBO_DONE ? DSBO_NOTICED : DSBO_FAILED;
}

int dsbo_poll(struct dsbo_world *w, struct dsbo_transfer *t, struct dsbo_sum *s, int64_t nanos) {
	int state = DSBO_PENDING;
	int64_t end = now() + nanos;
	if (t != NULL && !t->posted)
		state = post(w, t);
	for (int idle = 0; state == DSBO_PENDING; idle++) {
		if (t != NULL)
			state = advance(w, t);
		if (s != NULL)
			state = step(w, s);
		if (state == DSBO_PENDING && (idle % 16 == 0 || idle > 200))
			state = hear(w);
		if (state != DSBO_PENDING || __atomic_load_n(&w->interrupted, __ATOMIC_SEQ_CST) || now() >= end)
			break;
		rest(idle);
	}
	if (t != NULL && state == DSBO_DONE)
		t->posted = 0;
	return state;
}

static void free_transfer(struct dsbo_transfer *t) {
	free(t->messages);
	free(t->requests);
	free(t->statuses);
	free(t->indices);
	free(t);
}

// under_way reports whether MPI still uses memory of t.
static int under_way(struct dsbo_transfer *t) {
	for (int i = 0; i < t->count; i++)
		if (t->requests[i] != MPI_REQUEST_NULL)
			return 1;
	return 0;
}

int dsbo_drop(struct dsbo_world *w, struct dsbo_transfer *t, int64_t nanos) {
	int64_t end = now() + nanos;
	for (int idle = 0; under_way(t) && now() < end; idle++) {
		test(w, t);
		rest(idle);
	}
	if (under_way(t)) {
		t->next = w->dropped;
		w->dropped = t;
		return DSBO_PENDING;
	}
	free_transfer(t);
	return DSBO_DONE;
}

// reap frees the loose messages, the dropped transfers and the closed sums that are done.
static void reap(struct dsbo_world *w) {
	for (struct dsbo_loose **p = &w->loose; *p != NULL;) {
		struct dsbo_loose *l = *p;
		int flag = 0;
		if (MPI_Test(&l->request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || !flag) {
			p = &l->next;
			continue;
		}
		*p = l->next;
		free(l);
	}
	for (struct dsbo_transfer **p = &w->dropped; *p != NULL;) {
		struct dsbo_transfer *t = *p;
		test(w, t);
		if (under_way(t)) {
			p = &t->next;
			continue;
		}
		*p = t->next;
		free_transfer(t);
	}
	for (struct dsbo_sum **p = &w->closed; *p != NULL;) {
		struct dsbo_sum *s = *p;
		int state = step(w, s);
		if (s->stage != ENDED && state != DSBO_FAILED) {
			p = &s->next;
			continue;
		}
		*p = s->next;
		if (state == DSBO_FAILED)
			continue; // MPI may still use its memory
		MPI_Comm_free(&s->comm);
		free(s->words);
		free(s);
	}
}

int dsbo_tell(struct dsbo_world *w, int rank, const uint64_t *notice) {
	reap(w);
	struct dsbo_loose *l = new_loose(w, DSBO_NOTICE_WORDS);
	memcpy(l->words, notice, sizeof l->words[0] * DSBO_NOTICE_WORDS);
	CHECK(w, "MPI_Isend", isend(w, l->words, DSBO_NOTICE_WORDS, rank, NOTICE_TAG, &l->request));
	return DSBO_DONE;
}

// sweep receives what a failed exchange left behind.
static int sweep(struct dsbo_world *w) {
	int flag, count;
	MPI_Message message;
	MPI_Status status;
	CHECK(w, "MPI_Improbe", MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &flag, &message, &status));
	if (!flag)
		return DSBO_PENDING;
	CHECK(w, "MPI_Get_count", MPI_Get_count(&status, MPI_UINT64_T, &count));
	struct dsbo_loose *l = new_loose(w, count);
	CHECK(w, "MPI_Imrecv", MPI_Imrecv(l->words, count, MPI_UINT64_T, &message, &l->request));
	w->received++;
	return DSBO_PENDING;
}

// try_leave goes one step further if it can: all ranks tell each other how many messages they sent, receive
// these, so that none is left over, and end.
static int try_leave(struct dsbo_world *w) {
	int flag, state;
	reap(w);
	switch (w->left) {
	case 0:
		CHECK(w, "MPI_Ialltoall", MPI_Ialltoall(w->sent, 1, MPI_INT64_T, w->expected, 1, MPI_INT64_T, w->comm, &w->leaving));
		w->left = 1;
		// fallthrough
	case 1:
		CHECK(w, "MPI_Test", MPI_Test(&w->leaving, &flag, MPI_STATUS_IGNORE));
		if (!flag)
			return DSBO_PENDING;
		w->left = 2;
		for (int i = 0; i < w->size; i++)
			w->all += w->expected[i];
	}
	while ((state = hear(w)) == DSBO_NOTICED)
		;
	if (state == DSBO_FAILED)
		return state;
	if (w->received < w->all)
		return sweep(w);
	if (w->loose != NULL || w->dropped != NULL || w->closed != NULL)
		return DSBO_PENDING;
	CHECK(w, "MPI_Cancel", MPI_Cancel(&w->incoming));
	CHECK(w, "MPI_Wait", MPI_Wait(&w->incoming, MPI_STATUS_IGNORE));
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
