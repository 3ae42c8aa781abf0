import { AppError } from '../../errors/app-error.js'
import { isSamePerson } from '../../lib/text/same-person.js'
import type { AuditEntry } from '../../store/ports/audit-store.js'
import type { NewException, PolicyException } from '../../store/ports/exception-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { WriteOperation } from '../../store/ports/transaction.js'

/** The caller of a change, with its time. */
export interface ExceptionActor {
  readonly user: string
  /** Address and token name of the caller. */
  readonly origin: string | undefined
  readonly nowMs: number
}

/** Limit on exceptions that have not ended. All of them are in the memory of each process. */
const MAX_EXCEPTIONS = 20_000

/** An exception, and whether it was added. An equal one of the same owner may exist already. */
export interface AddedException {
  readonly exception: PolicyException
  readonly isNew: boolean
}

/**
 * Adds an exception, or returns the equal one that the same user added before, so that a request
 * can be repeated. Raises `conflict` if there are too many.
 */
export const addException: WriteOperation<
  { readonly added: NewException; readonly origin: string | undefined },
  AddedException
> = {
  name: 'exceptions.add',
  apply: async ({ exceptions, audit }, { added, origin }) => {
    const others = await exceptions.ofPackage(added.package, added.createdMs)
    const equal = others.find((other) => isEqual(other, added))
    if (equal !== undefined) return { exception: equal, isNew: false }
    if ((await exceptions.count(added.createdMs)) >= MAX_EXCEPTIONS)
      throw new AppError('conflict', `there are ${MAX_EXCEPTIONS} exceptions: remove some first`)
    const exception = await exceptions.add(added)
    await audit.append(
      entry('exception.added', exception, { user: added.owner, origin, nowMs: added.createdMs }),
    )
    return { exception, isNew: true }
  },
}

/**
 * Approves an exception. Raises `not_found`, `forbidden` for its owner, and `conflict` if it has
 * ended or needs no approval. A repeated approval of the same user changes nothing.
 */
export const approveException: WriteOperation<ExceptionActor & { readonly id: number }, PolicyException> = {
  name: 'exceptions.approve',
  apply: async ({ exceptions, audit }, { id, ...actor }) => {
    const exception = await exceptions.find(id)
    if (exception === undefined) throw unknownException(id)
    const { approver, owner, needsApproval, untilMs } = exception
    if (untilMs <= actor.nowMs) throw new AppError('conflict', `exception ${id} has ended: add a new one`)
    if (!needsApproval) throw new AppError('conflict', `exception ${id} needs no approval`)
    if (isSamePerson(actor.user, owner))
      throw new AppError('forbidden', `exception ${id} is your own: a second person must approve it`)
    if (approver !== undefined && isSamePerson(actor.user, approver)) return exception
    if (approver !== undefined)
      throw new AppError('conflict', `exception ${id} was approved by ${approver} before`)
    const approved = { ...exception, approver: actor.user, approvedMs: actor.nowMs }
    await exceptions.update(approved)
    await audit.append(entry('exception.approved', approved, actor))
    return approved
  },
}

/**
 * Removes an exception. Raises `not_found`, and `forbidden` for another user than the owner unless
 * `mayRemoveAny`.
 */
export const removeException: WriteOperation<
  ExceptionActor & { readonly id: number; readonly mayRemoveAny: boolean },
  PolicyException
> = {
  name: 'exceptions.remove',
  apply: async ({ exceptions, audit }, { id, mayRemoveAny, ...actor }) => {
    const exception = await exceptions.find(id)
    if (exception === undefined) throw unknownException(id)
    if (!mayRemoveAny && !isSamePerson(actor.user, exception.owner))
      throw new AppError(
        'forbidden',
        `exception ${id} belongs to ${exception.owner}: an approver may remove it`,
      )
    await exceptions.remove(id)
    await audit.append(entry('exception.removed', exception, actor))
    return exception
  },
}

/** Exceptions whose end is recorded in one transaction. */
const NOTICES = 100

/**
 * Records once for each exception that its end is near, and removes those that ended before
 * `removeBeforeMs`. Returns the recorded ones, at most `NOTICES`. If it returns
 * that many, call it again.
 */
export const noticeExpiring: WriteOperation<
  { readonly nowMs: number; readonly withinMs: number; readonly removeBeforeMs: number },
  readonly PolicyException[]
> = {
  name: 'exceptions.notice-expiring',
  isBackground: true,
  apply: async ({ exceptions, audit }, { nowMs, withinMs, removeBeforeMs }) => {
    const expiring = await exceptions.expiring(nowMs, nowMs + withinMs, NOTICES)
    for (const exception of expiring) {
      await exceptions.update({ ...exception, noticedMs: nowMs })
      await audit.append(
        entry('exception.expiring', exception, { user: undefined, origin: 'tidegate', nowMs }),
      )
    }
    await exceptions.removeEnded(removeBeforeMs)
    return expiring
  },
}

/** All stored exceptions, in the order of their ids. */
export const listExceptions: ReadOperation<null, readonly PolicyException[]> = {
  name: 'exceptions.list',
  apply: ({ exceptions }) => exceptions.all(),
}

export const exceptionReads = [listExceptions] as const
export const exceptionWrites = [addException, approveException, removeException, noticeExpiring] as const

function isEqual(one: PolicyException, other: NewException): boolean {
  return (
    one.application === other.application &&
    one.pipeline === other.pipeline &&
    one.reason === other.reason &&
    one.owner === other.owner &&
    one.untilMs === other.untilMs
  )
}

function entry(
  kind: string,
  exception: PolicyException,
  { user, origin, nowMs }: { user: string | undefined; origin: string | undefined; nowMs: number },
): AuditEntry {
  const { id, package: name, application, pipeline, reason, owner, untilMs, approver } = exception
  const until = new Date(untilMs).toISOString()
  const body = { exception: id, package: name, application, pipeline, reason, owner, until, approver }
  return {
    ...{ timeMs: nowMs, source: 'policy', kind, application, pipeline, user, origin },
    body: Buffer.from(JSON.stringify(body)),
  }
}

function unknownException(id: number): AppError {
  return new AppError('not_found', `there is no exception ${id}: it was removed, or ended long ago`)
}
