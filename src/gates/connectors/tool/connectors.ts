import type { OutboundClient } from '../../../lib/outbound/outbound-client.js'
import type { Credentials } from '../../../lib/outbound/credentials.js'

/** The values of each parameter, by its name as the trigger gave it. */
export type ConnectorParameters = Readonly<Record<string, readonly string[]>>

/** What a trigger asks of one connector. */
export interface ConnectorRequest {
  /** In capitals: JIRA, JENKINS. */
  readonly connectorType: string
  readonly parameters: ConnectorParameters
}

/**
 * `fetched`: everything that was asked for is there. `failed`: something is missing, and no policy may decide by what is
 * there. `skipped`: no account is configured for the type.
 */
export type EvidenceState = 'fetched' | 'failed' | 'skipped'

/** What a connector found, kept with the gate instance. */
export interface Evidence {
  readonly connectorType: string
  /** The name of the account that was asked; null when there is none. */
  readonly account: string | null
  readonly state: EvidenceState
  /** When it was there, in ms since the epoch. */
  readonly fetchedAt: number
  readonly output: readonly object[]
  /** Why something is missing, in a sentence or several. */
  readonly error?: string
  /** Whether a limit left something out of the output. */
  readonly truncated?: boolean
}

/** What a fetch may take. */
export interface FetchContext {
  /** When all must be over, by the clock of `now`. */
  readonly deadlineMs: number
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
  readonly signal?: AbortSignal | undefined
}

/** One account at one tool that can be asked for evidence. */
export interface Connector {
  readonly account: string
  /** What triggers may call it. */
  readonly connectorTypes: readonly string[]
  /** Never rejects: what goes wrong is the state of the evidence. */
  readonly fetch: (request: ConnectorRequest, context: FetchContext) => Promise<Evidence>
}

/** How to reach one account. */
export interface ConnectorAccount {
  readonly name: string
  /** What triggers call it, where that is not what its tool is called. */
  readonly connectorType: string | undefined
  /** Where the tool is; a template with placeholders for the generic connector. */
  readonly url: string
  readonly credentials: Credentials | undefined
  readonly client: OutboundClient
  readonly timeoutMs: number
  readonly attempts: number
  readonly maxResponseBytes: number
}
