import { AppError } from '../errors/app-error.js'
import { WorkJournal } from './work-journal.js'
import type { NotedWork } from './work-journal.js'

/** Work that has ended the process, or its thread, so often that it is not begun again. */
export interface SuspendedWork extends NotedWork {
  /** A sentence for people. */
  readonly reason: string
}

/** Keeps work that ends the process from ending it at every start. */
export interface WorkAttempts {
  /**
   * Does a piece of work, noted while it is under way. Raises an AppError with the code `WORK_SUSPENDED`, without beginning it, when
   * it has ended the process twice. `endsThread` tells errors that mean that the work's own thread died of it: they count, too.
   */
  readonly run: <Result>(
    work: NotedWork,
    act: () => Promise<Result>,
    endsThread?: (error: unknown) => boolean,
  ) => Promise<Result>
  /** How often a piece of work has been begun without coming to an end. */
  readonly unfinished: (work: NotedWork) => number
  readonly suspended: () => readonly SuspendedWork[]
  /** Forgets the attempts of a piece of work; whether there were any. */
  readonly forget: (work: NotedWork) => boolean
}

export const WORK_SUSPENDED = 'work_set_aside'
/** Once may be chance. */
const MAX_ATTEMPTS = 2

/** Notes what is under way in a file. */
export class JournaledAttempts implements WorkAttempts {
  readonly #journal: WorkJournal
  /** What was under way when the process ended is done one after the other: the next end must convict nobody else. */
  #suspects: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#journal = new WorkJournal(path)
  }

  async run<Result>(
    work: NotedWork,
    act: () => Promise<Result>,
    endsThread: (error: unknown) => boolean = () => false,
  ): Promise<Result> {
    const attempts = this.#journal.attempts(work)
    if (attempts >= MAX_ATTEMPTS) {
      throw new AppError('unavailable', reasonOf(attempts), { code: WORK_SUSPENDED })
    }
    if (attempts === 0) return await this.#noted(work, act, endsThread)
    const done = this.#suspects.then(() => this.#noted(work, act, endsThread))
    this.#suspects = done.catch(() => undefined)
    return await done
  }

  unfinished(work: NotedWork): number {
    return this.#journal.attempts(work)
  }

  suspended(): readonly SuspendedWork[] {
    return this.#journal
      .unfinished()
      .filter(({ attempts }) => attempts >= MAX_ATTEMPTS)
      .map(({ kind, key, attempts }) => ({ kind, key, reason: reasonOf(attempts) }))
  }

  forget(work: NotedWork): boolean {
    return this.#journal.end(work)
  }

  close(): void {
    this.#journal.close()
  }

  async #noted<Result>(
    work: NotedWork,
    act: () => Promise<Result>,
    endsThread: (error: unknown) => boolean,
  ): Promise<Result> {
    this.#journal.begin(work)
    let hasEndedThread = false
    try {
      return await act()
    } catch (error) {
      hasEndedThread = endsThread(error)
      throw error
    } finally {
      if (!hasEndedThread) this.#journal.end(work)
    }
  }
}

function reasonOf(attempts: number): string {
  return `the service, or the thread of this work, ended ${attempts} times while it was under way, and it is not begun again until somebody resumes it`
}

/** Whether an error says that work is suspended. */
export function isSuspended(error: unknown): error is AppError {
  return error instanceof AppError && error.code === WORK_SUSPENDED
}

/** Attempts that nobody notes, for what ends with its caller. */
export const UNNOTED_ATTEMPTS: WorkAttempts = {
  run: (_, act) => act(),
  unfinished: () => 0,
  suspended: () => [],
  forget: () => false,
}
