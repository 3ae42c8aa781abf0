import { createHash } from 'node:crypto'
import { z } from 'zod'

import type { PolicyChangeKind } from '../../../audit/record-policy-change.js'
import { recordPolicyChange } from '../../../audit/record-policy-change.js'
import { AppError } from '../../../errors/app-error.js'
import type { OpaProgram, Policies, PolicyChange, StoredPolicies } from '../../../rego/index.js'
import type { Snapshot } from '../../../rego/index.js'
import type { Writer } from '../../../store/ports/transaction.js'
import { actorOf } from '../../exchange/caller-of.js'
import { withLimitMessage } from '../../exchange/body-errors.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonTextAnswer } from '../../exchange/json-answer.js'
import type { BodyReader } from '../../input/body-reader.js'
import { readBody } from '../../input/read-body.js'
import { prettyJson } from '../../policy/data-answer.js'
import { parseDataQuery, searchParams } from '../../policy/data-query.js'

export interface WritingRoutesDeps {
  readonly policies: Policies
  /** `policies.writable`. */
  readonly isWritable: boolean
  readonly findOpa: () => Promise<OpaProgram>
  readonly writer: Writer
  readonly now: () => number
  readonly maxBodyBytes: number
}

/** The deciding thread reads a document, which takes a tenth of a second for this many bytes. */
const MAX_WRITTEN_BYTES = 1024 * 1024

const Switch = z.string().optional()

/** Query parameters of OPA that the routes have in common. */
export const WritingQuery = z.looseObject({
  pretty: Switch.describe('Indents the response. Like all flags, it is on if empty or true.'),
  metrics: Switch.describe('Adds the duration of the request.'),
})

/** Response of a change. */
export const Metrics = z
  .object({ metrics: z.object({ timer_server_handler_ns: z.int() }).optional() })
  .describe('Empty without `metrics`.')

/** Raises `forbidden` unless policies are writable, and returns what clients may write. */
export function storedPolicies({ policies, isWritable }: WritingRoutesDeps): StoredPolicies {
  return storedIn(isWritable ? policies.current : {})
}

function storedIn({ stored }: Pick<Snapshot, 'stored'>): StoredPolicies {
  if (stored !== undefined) return stored
  throw new AppError(
    'forbidden',
    'policies and data cannot be read and changed here: set policies.writable: true',
    { code: 'policies_not_writable' },
  )
}

/** Reads the body as sent, unless policies are not writable. Its media type does not matter. */
export function writtenBody(description: string, type: string): BodyReader<WritingRoutesDeps, Uint8Array> {
  return {
    description,
    schema: z.unknown(),
    types: [type],
    read: (exchange, deps) => {
      storedPolicies(deps)
      const limit = Math.min(deps.maxBodyBytes, MAX_WRITTEN_BYTES)
      return withLimitMessage(
        readBody(exchange, limit),
        `the body exceeds ${limit} bytes. Write parts of it to paths below, or load the file by policies.directories or a bundle`,
      )
    },
  }
}

/** A change of policies or data by a request. */
export interface RequestedChange {
  readonly kind: PolicyChangeKind
  /** The id of the policy, or the path of the document. */
  readonly target: string
  readonly content?: Uint8Array
  /** As in `PolicyChange`. */
  readonly apply: (
    stored: StoredPolicies,
    current: Snapshot,
    written: Parameters<PolicyChange['apply']>[1],
  ) => ReturnType<PolicyChange['apply']>
}

/**
 * Changes the policies, and records the change in the audit trail before it takes effect. Returns
 * whether anything changed. Rejects as `Policies.write`.
 */
export async function changePolicies(
  { kind, target, content, apply }: RequestedChange,
  exchange: Exchange,
  deps: WritingRoutesDeps,
): Promise<boolean> {
  storedPolicies(deps)
  return await deps.policies.write({
    apply: (current, written) => apply(storedIn(current), current, written),
    record: async (next, before) => {
      await deps.writer.run(recordPolicyChange, {
        kind,
        target,
        ...(content !== undefined && { content: digestOf(content) }),
        revisions: { before: before.revision, after: next.revision },
        actor: actorOf(exchange, deps),
      })
    },
  })
}

function digestOf(content: Uint8Array): { readonly bytes: number; readonly sha256: string } {
  return { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}

/** Returns a JSON response in OPA's form. */
export function storedAnswer(exchange: Exchange, text: string): Response {
  const { pretty } = parseDataQuery(searchParams(exchange))
  return jsonTextAnswer(pretty ? prettyJson(text) : text)
}

const NS_PER_MS = 1e6

/** Returns the members of the response's `metrics`; undefined if they were not requested. */
export function metricsOf(exchange: Exchange): string | undefined {
  if (!parseDataQuery(searchParams(exchange)).metrics) return undefined
  const handlerNs = Math.round((performance.now() - exchange.startedAt) * NS_PER_MS)
  return `{"metrics":{"timer_server_handler_ns":${handlerNs}}}`
}
