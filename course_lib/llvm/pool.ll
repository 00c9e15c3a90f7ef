; The thread pool: one job at a time, cut into pieces that threads take whenever they are free.
;
; A job is "iterations 0 .. @iterations of @task". The thread that has a job (number 0) cuts it into
; @pieces, opens it and takes pieces like everybody else; so it never waits for a thread that is not
; there, and a thread that comes late finds less to do. It takes the first piece that is left, the
; others take the last one: of two threads, each does nearly the same pieces in every run of a model,
; and finds their weights in its own cache. Between two jobs a worker looks for the next one for some
; 0.1 ms, which costs no system call, and then goes to sleep.
;
; Who may read what: @task to @threads are written while no piece is left, and read before a piece is
; taken. `cmpxchg` takes it only if @left is still what it was before they were read, so that nobody
; runs a piece of one job with the numbers of another.

@left = internal global i64 0, align 64       ; number of the job * 2^32 + first piece that nobody has
                                              ; taken * 2^16 + the one behind the last such piece
@finished = internal global i64 0, align 64   ; pieces that are done
@said = internal global i64 0, align 64       ; what they returned, combined by `or`
@task = internal global ptr null, align 64    ; i64 (ptr values, i64 first, i64 behind the last)
@values = internal global ptr null
@iterations = internal global i64 0
@pieces = internal global i64 0
@threads = internal global i64 0              ; threads with a smaller number may help
@busy = internal global i64 0, align 64       ; 1 while a job is open: there is room for one
@asleep = internal global i64 0               ; workers that wait for @wake
@closing = internal global i64 0              ; 1: workers shall return
@mutex = internal global [64 x i8] zeroinitializer, align 64
@wake = internal global [64 x i8] zeroinitializer, align 64

declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()

; A pool without workers and without a job, also after a fork, which copies no thread.
define void @open_pool() {
  store i64 0, ptr @left
  store i64 0, ptr @busy
  store i64 0, ptr @asleep
  store i64 0, ptr @closing
  %mutex = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %wake = call i32 @pthread_cond_init(ptr @wake, ptr null)
  ret void
}

; All workers return, those that sleep too.
define void @close_pool() {
  store atomic i64 1, ptr @closing seq_cst, align 8
  call void @wake_all()
  ret void
}

define internal void @wake_all() {
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %awake = call i32 @pthread_cond_broadcast(ptr @wake)
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}

; Run iterations 0 .. %iterations of %task on up to %threads threads, this one included. Alone where
; there is nothing to share, and where the pool has a job already: another model is running.
define i64 @run_parallel(ptr %task, ptr %values, i64 %iterations, i64 %threads) {
start:
  %most = call i64 @llvm.umin.i64(i64 %iterations, i64 %threads)
  %shared = icmp ugt i64 %most, 1
  br i1 %shared, label %claim, label %alone

alone:
  %result = call i64 %task(ptr %values, i64 0, i64 %iterations)
  ret i64 %result

claim:
  %claimed = cmpxchg ptr @busy, i64 0, i64 1 acq_rel monotonic
  %ours = extractvalue { i64, i1 } %claimed, 1
  br i1 %ours, label %publish, label %alone

publish:
  %finest = mul i64 %threads, 4                             ; small enough that nobody waits long
  %few = call i64 @llvm.umin.i64(i64 %finest, i64 65535)
  %pieces = call i64 @llvm.umin.i64(i64 %iterations, i64 %few)
  store atomic ptr %task, ptr @task monotonic, align 8
  store atomic ptr %values, ptr @values monotonic, align 8
  store atomic i64 %iterations, ptr @iterations monotonic, align 8
  store atomic i64 %pieces, ptr @pieces monotonic, align 8
  store atomic i64 %threads, ptr @threads monotonic, align 8
  store atomic i64 0, ptr @finished monotonic, align 8
  store atomic i64 0, ptr @said monotonic, align 8
  %last = load atomic i64, ptr @left monotonic, align 8      ; the job before: no piece is left
  %next = add i64 %last, 4294967296
  %number = and i64 %next, -4294967296
  %open = or i64 %number, %pieces
  %before = atomicrmw xchg ptr @left, i64 %open seq_cst
  %asleep = load atomic i64, ptr @asleep seq_cst, align 8
  %sleepers = icmp ne i64 %asleep, 0
  br i1 %sleepers, label %rouse, label %work

rouse:
  call void @wake_all()
  br label %work

work:
  %took = call i1 @take_piece(i64 0)
  br i1 %took, label %work, label %wait

wait:                                                         ; for the pieces that others took
  %turns = phi i64 [0, %work], [%turn, %again]
  %finished = load atomic i64, ptr @finished acquire, align 8
  %all = icmp eq i64 %finished, %pieces
  br i1 %all, label %done, label %still

still:
  call void @pause()
  %turn = add i64 %turns, 1
  %rest = and i64 %turn, 1023
  %long = icmp eq i64 %rest, 0
  br i1 %long, label %yield, label %again

yield:                                                        ; somebody else may need this processor
  %yielded = call i32 @sched_yield()
  br label %again

again:
  br label %wait

done:
  %said = load atomic i64, ptr @said monotonic, align 8
  store atomic i64 0, ptr @busy release, align 8
  ret i64 %said
}

; Is there a piece that nobody has taken?
define internal i1 @some_left(i64 %left) {
  %shifted = lshr i64 %left, 16
  %first = and i64 %shifted, 65535
  %behind = and i64 %left, 65535
  %some = icmp ult i64 %first, %behind
  ret i1 %some
}

; Take one piece of the open job and run it. False if there is none for thread %me.
define internal i1 @take_piece(i64 %me) {
start:
  br label %look

look:
  %left = load atomic i64, ptr @left acquire, align 8
  %some = call i1 @some_left(i64 %left)
  %threads = load atomic i64, ptr @threads monotonic, align 8
  %wanted = icmp ult i64 %me, %threads
  %try = and i1 %some, %wanted
  br i1 %try, label %take, label %nothing

take:
  %task = load atomic ptr, ptr @task monotonic, align 8
  %values = load atomic ptr, ptr @values monotonic, align 8
  %iterations = load atomic i64, ptr @iterations monotonic, align 8
  %pieces = load atomic i64, ptr @pieces monotonic, align 8
  %owner = icmp eq i64 %me, 0
  %without.first = add i64 %left, 65536
  %without.last = sub i64 %left, 1
  %fewer = select i1 %owner, i64 %without.first, i64 %without.last
  %swap = cmpxchg ptr @left, i64 %left, i64 %fewer acq_rel monotonic
  %ours = extractvalue { i64, i1 } %swap, 1
  br i1 %ours, label %run, label %look

run:
  %shifted = lshr i64 %left, 16
  %first = and i64 %shifted, 65535
  %last = and i64 %without.last, 65535
  %piece = select i1 %owner, i64 %first, i64 %last
  %next = add i64 %piece, 1
  %before = mul i64 %piece, %iterations
  %behind = mul i64 %next, %iterations
  %from = udiv i64 %before, %pieces
  %to = udiv i64 %behind, %pieces
  %result = call i64 %task(ptr %values, i64 %from, i64 %to)
  %noted = atomicrmw or ptr @said, i64 %result monotonic
  %done = atomicrmw add ptr @finished, i64 1 acq_rel
  ret i1 true

nothing:
  ret i1 false
}

; What a worker does all its life: number %me, from 1 on.
define void @work(i64 %me) {
start:
  br label %look

look:
  %idle = phi i64 [0, %start], [0, %try], [0, %up], [%longer, %none]
  %closing = load atomic i64, ptr @closing acquire, align 8
  %over = icmp ne i64 %closing, 0
  br i1 %over, label %end, label %try

try:
  %took = call i1 @take_piece(i64 %me)
  br i1 %took, label %look, label %none

none:
  call void @pause()
  %longer = add i64 %idle, 1
  %tired = icmp ugt i64 %longer, 4000
  br i1 %tired, label %sleep, label %look

sleep:
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %one.more = atomicrmw add ptr @asleep, i64 1 seq_cst
  br label %check

check:                                                        ; after @asleep: a job opened before is seen
  %left = load atomic i64, ptr @left seq_cst, align 8
  %some = call i1 @some_left(i64 %left)
  %closed = load atomic i64, ptr @closing seq_cst, align 8
  %close = icmp ne i64 %closed, 0
  %rise = or i1 %some, %close
  br i1 %rise, label %up, label %wait

wait:
  %woken = call i32 @pthread_cond_wait(ptr @wake, ptr @mutex)
  br label %check

up:
  %one.less = atomicrmw sub ptr @asleep, i64 1 seq_cst
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %look

end:
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)
