import type { Server } from 'node:net'

import type { Config } from '../../config/config.js'
import type { ServedAddress } from '../../config/sections/served-addresses.js'
import type { DecisionBatch } from '../../decisions/decision-batch.js'
import type { DecisionReport } from '../../decisions/decision-report.js'
import type { WriteReceipt } from '../../decisions/keep-decisions.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import type { Failure } from '../../lib/threads/failure.js'
import type { Answered, PortableSnapshot, SlowFailure, SlowRequest } from '../../rego/index.js'
import type { PolicyException } from '../../store/ports/exception-store.js'
import type { MetricValues } from './sum-metrics.js'

/** The start options of a worker process. */
export interface WorkerSettings {
  readonly config: Config
  /** The addresses to serve. */
  readonly addresses: readonly ServedAddress[]
  /** The certificate for addresses that use TLS. */
  readonly tls: TlsSettings | undefined
  /** The socket on which the main process answers relayed requests. */
  readonly relaySocket: string
  /** Number of processes that decide, including this one and the main one. */
  readonly processes: number
}

/** Policies sent to a worker process. */
export interface SentPolicies {
  /** The number of these policies in both processes. */
  readonly id: number
  readonly snapshot: PortableSnapshot
  readonly image: SentImage
}

/**
 * The base documents: their bytes if small, otherwise the path of a file that exists until all
 * worker processes have read it.
 */
export interface SentImage {
  readonly base: number
  readonly root: number
  /** Absent if unchanged since the previous policies. */
  readonly content: Uint8Array | string | undefined
}

/** Prepared policies that answer a share of requests, by their number. */
export interface SentStage {
  readonly id: number
  readonly sharePercent: number
}

/** An evaluation that exceeded its slice in a worker process. */
interface SlowTask {
  readonly id: number
  readonly policies: number
  readonly key: string
  readonly request: SlowRequest
}

/** The calls that the main process makes to a worker process. */
export interface WorkerCalls {
  /** Sets everything up and prepares policies. */
  start(options: { readonly settings: WorkerSettings; readonly policies: SentPolicies }): Promise<void>
  /**
   * Starts to decide at an address, given by its index in the settings, with the listener sent
   * along.
   */
  listen(index: number, listener: Server): Promise<void>
  /** Switches new connections to another certificate. */
  renewTls(settings: TlsSettings): Promise<void>
  /** Answers with another configuration from now on. */
  follow(config: Config): Promise<void>
  /** Prepares policies. */
  load(policies: SentPolicies): Promise<void>
  /** Puts prepared policies into service. */
  activate(id: number): Promise<void>
  /** Lets prepared policies answer a share of requests; none if undefined. */
  stage(staged: SentStage | undefined): Promise<void>
  /** Replaces the exceptions that apply. */
  except(all: readonly PolicyException[]): Promise<void>
  metrics(): Promise<MetricValues>
  /** Hands over all buffered decisions. */
  flush(): Promise<void>
  /** Refuses new requests, answers running ones and hands over all buffered decisions. */
  stop(drainMs: number): Promise<void>
}

/** The calls that a worker process makes to the main process. */
export interface MainCalls {
  writeDecisions(batch: DecisionBatch): Promise<WriteReceipt>
  reportDecisions(report: DecisionReport): void
  evaluate(task: SlowTask): Promise<Answered>
  /** Cancels a task whose result is no longer needed. */
  drop(id: number): void
  /** Adds the location in the sources to the error of an evaluation. */
  locateFailure(failed: { readonly policies: number; readonly failure: SlowFailure }): Failure
}
