import type { ChildProcess, SendHandle } from 'node:child_process'

import { AppError } from '../../errors/app-error.js'
import { fromFailure, toFailure } from '../threads/failure.js'
import type { Failure } from '../threads/failure.js'

/** One end of a channel to another process. */
export interface ChannelEnd {
  readonly onMessage: (heard: (message: unknown, handle: unknown) => void) => void
  readonly onGone: (gone: () => void) => void
  readonly send: (message: object, handle: SendHandle, sent: (error: Error | null) => void) => void
}

/** The channel to a forked child. */
export function channelToChild(child: ChildProcess): ChannelEnd {
  return {
    onMessage: (heard) => child.on('message', heard),
    onGone: (gone) => child.once('disconnect', gone),
    send: (message, handle, sent) => child.send(message, handle, {}, sent),
  }
}

/** The channel of a child to its parent. Undefined in other processes. */
export function channelToParent(): ChannelEnd | undefined {
  if (process.send === undefined) return undefined
  return {
    onMessage: (heard) => process.on('message', heard),
    onGone: (gone) => process.once('disconnect', gone),
    send: (message, handle, sent) => process.send?.(message, handle, {}, sent),
  }
}

/** Argument and result of a function that another process runs. */
type ArgumentOf<F> = F extends (argument: infer A, handle: never) => unknown ? A : never
type ResultOf<F> = F extends (...given: never[]) => infer R ? Awaited<R> : never

type LinkMessage =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly failure: Failure }

interface Pending {
  readonly resolve: (value: never) => void
  readonly reject: (error: AppError) => void
}

/**
 * Calls functions of another process by name, each with one argument of plain data. `Theirs` lists
 * the functions of the other process. Calls to an ended process throw `unavailable`.
 */
export class ProcessLink<Theirs extends object> {
  readonly #end: ChannelEnd
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #isClosed = false

  constructor(end: ChannelEnd, ours: object) {
    this.#end = end
    end.onMessage((raw, handle) => {
      const message = raw as LinkMessage
      if (message.type === 'call') void this.#run(ours, message, handle)
      else this.#settle(message)
    })
    end.onGone(() => this.close())
  }

  /**
   * Calls a function of the other process. A server that is sent along becomes its second argument.
   */
  call<K extends keyof Theirs & string>(
    name: K,
    argument: ArgumentOf<Theirs[K]>,
    handle?: SendHandle,
  ): Promise<ResultOf<Theirs[K]>> {
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1)
      this.#pending.set(id, { resolve, reject })
      this.#send({ type: 'call', id, name, argument }, handle)
    })
  }

  /** Rejects all unanswered calls. */
  close(): void {
    this.#isClosed = true
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(gone())
  }

  async #run(
    ours: object,
    { id, name, argument }: LinkMessage & { type: 'call' },
    handle: unknown,
  ): Promise<void> {
    try {
      const run = Reflect.get(ours, name) as (this: object, argument: unknown, handle: unknown) => unknown
      this.#send({ type: 'result', id, value: await run.call(ours, argument, handle) })
    } catch (raw) {
      this.#send({ type: 'failure', id, failure: toFailure(raw) })
    }
  }

  #settle(message: Exclude<LinkMessage, { type: 'call' }>): void {
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.type === 'failure') pending?.reject(fromFailure(message.failure))
    else pending?.resolve(message.value as never)
  }

  #send(message: LinkMessage, handle?: SendHandle): void {
    const failed = (): void => {
      const pending = this.#pending.get(message.id)
      if (message.type !== 'call') return
      this.#pending.delete(message.id)
      pending?.reject(gone())
    }
    if (this.#isClosed) {
      failed()
      return
    }
    this.#end.send(message, handle, (error) => {
      if (error !== null) failed()
    })
  }
}

function gone(): AppError {
  return new AppError('unavailable', 'another process of the service has ended: try again')
}
