import { AppError, toError } from '../../errors/app-error.js'

/** The proxies of the environment, as in curl. */
export interface ProxySettings {
  readonly httpProxy?: string | undefined
  readonly httpsProxy?: string | undefined
  readonly noProxy?: string | undefined
}

/** Timeout for a server that sends no data. */
const SILENCE_MS = 30_000
const TOTAL_MS = 15 * 60_000
const MAX_REDIRECTS = 5

/** Returns the proxies that the environment names. */
export function proxiesOf(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  return {
    httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'],
    httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'],
    noProxy: env['no_proxy'] ?? env['NO_PROXY'],
  }
}

/**
 * Downloads a URL, following redirects, as chunks. Raises `unavailable` for a status other than
 * 200, and for too many bytes.
 */
export async function* downloadFrom(
  url: string,
  maxBytes: number,
  proxies: ProxySettings,
): AsyncIterable<Uint8Array> {
  const { EnvHttpProxyAgent, request, interceptors } = await import('undici')
  const agent = new EnvHttpProxyAgent({
    ...Object.fromEntries(Object.entries(proxies).filter(([, value]) => value !== undefined)),
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect: { timeout: SILENCE_MS },
  })
  try {
    const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }))
    const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(TOTAL_MS) })
    if (statusCode !== 200) {
      await body.dump()
      throw failed(url, `it answers with status ${statusCode}`)
    }
    let length = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) throw failed(url, `it has more than ${maxBytes} bytes`)
      yield chunk
    }
  } catch (raw) {
    if (raw instanceof AppError) throw raw
    throw failed(url, toError(raw).message, raw)
  } finally {
    await agent.destroy()
  }
}

function failed(url: string, reason: string, cause?: unknown): AppError {
  return new AppError('unavailable', `cannot download ${url}: ${reason}`, { cause })
}
