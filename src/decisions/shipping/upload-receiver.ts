import { gzipSync } from 'node:zlib'
import { AppError } from '../../errors/app-error.js'
import { retryAfterMs } from '../../lib/outbound/back-off.js'
import type { OutboundResponse } from '../../lib/outbound/outbound-client.js'
import type { DecisionReceiver } from '../../store/ports/decision-shipping.js'
import type { StoredDecision } from '../../store/ports/decision-store.js'
import { withoutDetail } from './decision-event.js'
import type { EventLabels } from './decision-event.js'
import type { ShapeDecision, ShapedDecision } from './shape-event.js'

export interface UploadOptions {
  /** The address as it may be shown in messages. */
  readonly shownUrl: string
  readonly shape: ShapeDecision
  /** Returns an upload in the format of the service. */
  readonly bodyOf: (decisions: readonly ShapedDecision[]) => string
  /** Largest body as sent, in bytes. */
  readonly maxUploadBytes: number
  /**
   * Sends a compressed body with a POST request. Raises an error if there is no response.
   */
  readonly post: (body: Uint8Array) => Promise<OutboundResponse>
  /** Time of day, in epoch milliseconds. */
  readonly now: () => number
  readonly close: () => Promise<void>
}

/** Uploads are not reduced further when a server refuses larger ones. */
const MIN_UPLOAD_BYTES = 4096
const MS_PER_SECOND = 1000
const TOO_LARGE = 413

/**
 * Uploads decisions as compressed JSON. Every response other than 2xx and 413 is a failure of the service, after which the upload
 * is repeated, because a wrong setting must not lose decisions. Uploads that are too large are
 * divided. A single decision that is too large is sent without detail.
 */
export class UploadReceiver implements DecisionReceiver {
  readonly #options: UploadOptions
  #maxBytes: number

  constructor(options: UploadOptions) {
    this.#options = options
    this.#maxBytes = options.maxUploadBytes
  }

  async keep(decisions: readonly StoredDecision[]): Promise<void> {
    if (await this.#send(decisions)) return
    if (decisions.length === 1 && (await this.#send(decisions.map(withoutDetail)))) return
    throw new AppError('too_large', `${this.#options.shownUrl} accepts no upload of this size`)
  }

  close(): Promise<void> {
    return this.#options.close()
  }

  /** Returns false if the upload is too large. */
  async #send(decisions: readonly StoredDecision[]): Promise<boolean> {
    const { shape, post, bodyOf } = this.#options
    const shaped = decisions.flatMap((decision) => shape(decision) ?? [])
    if (shaped.length === 0) return true
    const body = gzipSync(bodyOf(shaped))
    if (body.length > this.#maxBytes) return false
    const response = await post(body)
    if (response.status >= 200 && response.status < 300) return true
    if (response.status !== TOO_LARGE) throw this.#refusal(response)
    this.#maxBytes = Math.max(MIN_UPLOAD_BYTES, Math.floor(body.length / 2))
    return false
  }

  /** Explains a failure. The body of the response may contain secrets, so it is left out. */
  #refusal({ status, reason, headers }: OutboundResponse): AppError {
    const { shownUrl, now } = this.#options
    const pauseMs = retryAfterMs(headers['retry-after'], now())
    const text = `${shownUrl} responded with ${`${status} ${reason}`.trim()}${adviceFor(status)}`
    return new AppError('unavailable', text, {
      ...(pauseMs !== undefined && { retryAfterSeconds: pauseMs / MS_PER_SECOND }),
    })
  }
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return ': check the credentials of the sink'
  if (status === 404) return ': check the url of the sink'
  return status >= 300 && status < 400
    ? ': redirects are not followed; set the url of the sink to the target'
    : ''
}

/** Severity numbers and texts of OpenTelemetry's data model of logs. */
const INFO = { severityNumber: 9, severityText: 'INFO' }
const WARN = { severityNumber: 13, severityText: 'WARN' }
const ERROR = { severityNumber: 17, severityText: 'ERROR' }
const SEVERITIES: Readonly<Record<string, typeof INFO>> = { deny: WARN, error: ERROR }
const NS_PER_MS = 1_000_000n

/**
 * Returns decisions as an ExportLogsServiceRequest of OTLP in its JSON encoding. The body of each
 * record is the decision in OPA's format, as JSON text, and its trace is that of the request.
 */
export function otlpLogs(decisions: readonly ShapedDecision[], labels: EventLabels): string {
  const { id = '', version = '', ...others } = labels
  const resource = {
    'service.name': 'tidegate',
    'service.instance.id': id,
    'service.version': version,
    ...others,
  }
  const logRecords = decisions.map(({ event, decision }) => ({
    timeUnixNano: String(BigInt(Math.trunc(decision.timeMs)) * NS_PER_MS),
    ...(SEVERITIES[decision.outcome] ?? INFO),
    eventName: 'tidegate.decision',
    body: { stringValue: event },
    attributes: attributes({
      'tidegate.decision_id': decision.decisionId,
      'tidegate.path': decision.path,
      'tidegate.outcome': decision.outcome,
      'tidegate.revision': decision.revision,
      ...(decision.application !== null && { 'tidegate.application': decision.application }),
      ...(decision.executionId !== null && { 'tidegate.execution_id': decision.executionId }),
      ...(decision.requestId !== null && { 'tidegate.request_id': decision.requestId }),
    }),
    ...(decision.traceId !== null && { traceId: decision.traceId }),
  }))
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: attributes(resource) },
        scopeLogs: [{ scope: { name: 'tidegate', version }, logRecords }],
      },
    ],
  })
}

function attributes(values: Readonly<Record<string, string>>): object[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))
}
