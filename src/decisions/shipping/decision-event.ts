import { jsonOrPrefix, printWithJsonText } from '../../lib/json/text/json-text.js'
import { REDACTION_MARK } from '../../lib/redaction/redacted.js'
import type { StoredDecision } from '../../store/ports/decision-store.js'
import { MASK_MARK } from '../mask-input.js'

/** Names of the sending service, such as `id` and `version`. */
export type EventLabels = Readonly<Record<string, string>>

const MARKS: readonly unknown[] = [MASK_MARK, REDACTION_MARK]
const MARK_BYTES = [MASK_MARK, REDACTION_MARK].map((mark) => Buffer.from(mark))

/**
 * Returns a stored decision as JSON in the format of OPA's decision log events. Paths of replaced
 * values are in `masked`, and values that were not stored in whole are in `erased`. Data without a
 * member in OPA's format is in `custom`.
 */
export function decisionEvent(decision: StoredDecision, labels: EventLabels): string {
  const { input, inputBytes, result, ndBuiltinCache, packages, error } = decision
  const shownInput = part('input', input, decision.inputTruncated)
  const shownResult = part('result', result, decision.resultTruncated)
  const isInputErased = inputBytes !== null && !('input' in shownInput)
  const isResultErased = decision.resultTruncated && !('result' in shownResult)
  const erased = [isInputErased ? ['/input'] : [], isResultErased ? ['/result'] : []].flat()
  const masked = [
    ...('input' in shownInput ? markedPaths('/input', input) : []),
    ...('result' in shownResult ? markedPaths('/result', result) : []),
  ]
  return printWithJsonText({
    labels,
    decision_id: decision.decisionId,
    trace_id: decision.traceId ?? undefined,
    revision: decision.revision,
    path: decision.path,
    ...('input' in shownInput && shownInput),
    ...('result' in shownResult && shownResult),
    ...(ndBuiltinCache !== null && jsonOrPrefix('nd_builtin_cache', ndBuiltinCache, false)),
    ...(erased.length > 0 && { erased }),
    ...(masked.length > 0 && { masked }),
    ...(error !== null && { error: { code: 'internal_error', message: error } }),
    requested_by: decision.caller ?? undefined,
    timestamp: new Date(decision.timeMs).toISOString(),
    metrics: { timer_server_handler_ns: Math.trunc(decision.durationNs) },
    custom: {
      kind: decision.kind,
      outcome: decision.outcome,
      application: decision.application ?? undefined,
      execution_id: decision.executionId ?? undefined,
      request_id: decision.requestId ?? undefined,
      input_bytes: inputBytes ?? undefined,
      ...('prefix' in shownInput && { input_prefix: shownInput.prefix }),
      ...('prefix' in shownResult && { result_prefix: shownResult.prefix }),
      ...(packages !== null && jsonOrPrefix('packages', packages, false)),
    },
  })
}

/** Returns a decision without its input, result and calls of built-ins. */
export function withoutDetail(decision: StoredDecision): StoredDecision {
  const resultTruncated = decision.result !== null
  return { ...decision, input: null, result: null, resultTruncated, ndBuiltinCache: null }
}

/** A whole value under its name, or the stored start of it as `prefix`. */
function part(name: 'input' | 'result', bytes: Uint8Array | null, isCut: boolean): object {
  if (bytes === null) return {}
  const shown = jsonOrPrefix(name, bytes, isCut)
  if (name in shown) return shown
  const [prefix] = Object.values<unknown>({ ...shown })
  return { prefix }
}

/** JSON pointers (RFC 6901) to the values that a mask or the redaction replaced. */
function markedPaths(root: string, bytes: Uint8Array | null): string[] {
  if (bytes === null) return []
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!MARK_BYTES.some((mark) => buffer.includes(mark))) return []
  const paths: string[] = []
  const pending: (readonly [path: string, value: unknown])[] = [[root, JSON.parse(buffer.toString())]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [path, value] = next
    if (MARKS.includes(value)) paths.push(path)
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value).reverse())
      pending.push([`${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, member])
  }
  return paths
}
