import type { Server } from 'node:net'

import type { Config } from '../../config/config.js'
import type { ServedAddress } from '../../config/sections/served-addresses.js'
import type { DecisionBatch } from '../../decisions/decision-batch.js'
import type { DecisionReport } from '../../decisions/decision-report.js'
import type { WriteReceipt } from '../../decisions/keep-decisions.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import type { Failure } from '../../lib/threads/failure.js'
import type { Answered, PortableSnapshot, SlowFailure, SlowRequest } from '../../rego/index.js'
import type { Figures } from './sum-figures.js'

/** What a worker is started with. */
export interface WorkerSettings {
  readonly config: Config
  /** Where it is to answer. */
  readonly addresses: readonly ServedAddress[]
  /** What callers are shown at those that speak TLS. */
  readonly tls: TlsSettings | undefined
  /** The socket of the main process, which answers what is no decision. */
  readonly relaySocket: string
  /** How many processes decide, this one and the main one included. */
  readonly processes: number
}

/** Policies on their way to a worker. */
export interface SentPolicies {
  /** By which the worker and the main process name them to each other. */
  readonly id: number
  readonly snapshot: PortableSnapshot
  readonly image: SentImage
}

/** The base documents: the bytes where they are few, else the file that holds them until all workers have read it. */
export interface SentImage {
  readonly base: number
  readonly root: number
  /** Absent where the worker has it from the policies before. */
  readonly content: Uint8Array | string | undefined
}

/** An evaluation that a worker did not end within its slice. */
interface SlowTask {
  readonly id: number
  readonly policies: number
  readonly key: string
  readonly request: SlowRequest
}

/** What the main process asks of a worker. */
export interface WorkerCalls {
  /** Sets everything up, and gets policies ready. */
  start(options: { readonly settings: WorkerSettings; readonly policies: SentPolicies }): Promise<void>
  /** Begins to decide at an address, by its place among those of the settings, with the listener that comes along. */
  listen(place: number, listener: Server): Promise<void>
  /** Has new connections use another certificate. */
  renewTls(settings: TlsSettings): Promise<void>
  /** Gets policies ready to serve. */
  load(policies: SentPolicies): Promise<void>
  /** Has policies serve that are ready. */
  activate(id: number): Promise<void>
  figures(): Promise<Figures>
  /** Hands over all decisions that it holds. */
  flush(): Promise<void>
  /** Takes no new requests, answers those that run, and hands over what it holds. */
  stop(drainMs: number): Promise<void>
}

/** What a worker asks of the main process. */
export interface MainCalls {
  writeDecisions(batch: DecisionBatch): Promise<WriteReceipt>
  reportDecisions(report: DecisionReport): void
  evaluate(task: SlowTask): Promise<Answered>
  /** Nobody wants the answer to this task any more. */
  drop(id: number): void
  /** The error that an evaluation ended with, with its place in the sources. */
  locate(failed: { readonly policies: number; readonly failure: SlowFailure }): Failure
}
