import type { OutboundClient } from '../../../lib/outbound/outbound-client.js'
import type { Credentials } from '../../../lib/outbound/credentials.js'

/** Values of the parameters by their names in the trigger. */
export type ConnectorParameters = Readonly<Record<string, readonly string[]>>

/** A trigger's request to one connector. */
export interface ConnectorRequest {
  /** In capitals, such as JIRA or JENKINS. */
  readonly connectorType: string
  readonly parameters: ConnectorParameters
}

/**
 * `fetched` means complete evidence. `failed` means that some is missing, so no policy may decide
 * by it. `skipped` means that no account is configured for the type.
 */
export type EvidenceState = 'fetched' | 'failed' | 'skipped'

/** Evidence of a connector, stored with the gate instance. */
export interface Evidence {
  readonly connectorType: string
  /** Name of the account; null without one. */
  readonly account: string | null
  readonly state: EvidenceState
  /** Time of the fetch, in epoch milliseconds. */
  readonly fetchedAt: number
  readonly output: readonly object[]
  /** Why evidence is missing, in one or more sentences. */
  readonly error?: string
  /** Whether a limit cut the output. */
  readonly truncated?: boolean
}

/** Limits of a fetch. */
export interface FetchContext {
  /** Deadline by the clock of `now`. */
  readonly deadlineMs: number
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
  readonly signal?: AbortSignal | undefined
}

/** Fetches evidence from one account of a tool. */
export interface Connector {
  readonly account: string
  /** Names of the connector in triggers. */
  readonly connectorTypes: readonly string[]
  /** Fetches evidence. Never rejects: a failure is the state of the evidence. */
  readonly fetch: (request: ConnectorRequest, context: FetchContext) => Promise<Evidence>
}

/** Settings of an account. */
export interface ConnectorAccount {
  readonly name: string
  /** Connector type in triggers, if it differs from the tool's. */
  readonly connectorType: string | undefined
  /** URL of the tool; a template with placeholders for the generic connector. */
  readonly url: string
  readonly credentials: Credentials | undefined
  readonly client: OutboundClient
  readonly timeoutMs: number
  readonly attempts: number
  readonly maxResponseBytes: number
}
