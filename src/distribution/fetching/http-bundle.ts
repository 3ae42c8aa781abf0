import type { SignRequest } from '../../analysis/sources/answers/source-connection.js'
import { AppError } from '../../errors/app-error.js'
import type { OutboundClient, OutboundResponse } from '../../lib/outbound/outbound-client.js'
import { shownUrl } from '../../lib/outbound/shown-url.js'
import type { FetchBundle, FetchRequest, FetchedBundle } from './fetch-bundle.js'

/** Largest bundle as sent. Unpacking has a limit of its own. */
export const MAX_BUNDLE_BYTES = 256 * 1024 * 1024
const MAX_REFUSAL_BYTES = 4096
/** The content type by which a bundle server announces long polling (OPA, "Bundle Service API"). */
const LONG_POLL_TYPE = 'application/vnd.openpolicyagent.bundles'
const NOT_MODIFIED = 304

/** Credentials that depend on the request. Raises `unavailable`. */
export type Authorize = (signal: AbortSignal) => Promise<SignRequest>

export interface HttpBundleSettings {
  readonly url: string
  /** Sent with every request, never shown. */
  readonly headers: Readonly<Record<string, string>>
  readonly authorize?: Authorize | undefined
  /** Time limit of a request without the wait for a change, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * Fetches a bundle from a server of OPA's Bundle Service API: `If-None-Match` with the last ETag,
 * and `Prefer: modes=snapshot;wait=N` for long polling.
 */
export function fetchOverHttp(settings: HttpBundleSettings, client: OutboundClient): FetchBundle {
  return async (request) => {
    const response = await client.send({
      method: 'GET',
      url: settings.url,
      headers: await headersOf(settings, request),
      timeoutMs: settings.timeoutMs + request.waitMs,
      maxResponseBytes: MAX_BUNDLE_BYTES,
      maxRefusalBytes: MAX_REFUSAL_BYTES,
      signal: request.signal,
    })
    return readResponse(settings.url, request.known, response)
  }
}

async function headersOf(
  { url, headers, authorize }: HttpBundleSettings,
  { known, waitMs, signal }: FetchRequest,
): Promise<Record<string, string>> {
  const sent = {
    ...headers,
    prefer: waitMs > 0 ? `modes=snapshot;wait=${Math.round(waitMs / 1000)}` : 'modes=snapshot',
    ...(known !== undefined && { 'if-none-match': known }),
  }
  if (authorize === undefined) return sent
  const sign = await authorize(signal)
  return { ...sent, ...sign({ method: 'GET', url: new URL(url), headers: {}, body: '' }) }
}

function readResponse(url: string, known: string | undefined, response: OutboundResponse): FetchedBundle {
  const { status, headers, body } = response
  const isLongPoll = headers['content-type']?.split(';', 1)[0]?.trim() === LONG_POLL_TYPE
  if (status === NOT_MODIFIED && known !== undefined) return { isChanged: false, isLongPoll }
  if (status !== 200) throw refusal(url, response)
  if (body.length === 0) throw new AppError('unavailable', `${shownUrl(url)} responded with an empty bundle`)
  const version = headers['etag']
  if (version !== undefined && version === known) return { isChanged: false, isLongPoll }
  return { isChanged: true, bytes: body, version, isLongPoll }
}

/** Explains a response without a bundle. Its body may contain secrets, so it is left out. */
export function refusal(url: string, { status, reason, headers }: OutboundResponse): AppError {
  const advice = adviceFor(status, headers['location'])
  return new AppError(
    'unavailable',
    `${shownUrl(url)} responded with ${`${status} ${reason}`.trim()}${advice}`,
  )
}

function adviceFor(status: number, location: string | undefined): string {
  if (status === 401 || status === 403) return ': check the credentials of the source'
  if (status === 404) return ': check the url of the source, and that its bundle was published'
  if (status < 300 || status >= 400 || location === undefined) return ''
  return `: redirects are not followed; set the url of the source to ${shownUrl(location)}`
}
