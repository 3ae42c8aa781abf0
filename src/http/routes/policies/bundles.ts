import type { PublishedBundle } from '../../../distribution/published-bundle.js'
import { AppError } from '../../../errors/app-error.js'
import { textOf } from '../../input/path-parameter.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface BundleRoutesDeps {
  /** Undefined if nothing is published. */
  readonly bundle: PublishedBundle | undefined
}

const BUNDLE_TYPE = 'application/vnd.openpolicyagent.bundles'
/** Longest wait of a long poll, in seconds. */
const MAX_WAIT_SECONDS = 300
const MS_PER_SECOND = 1000

const { route } = routesOf<BundleRoutesDeps>()

/** `GET /bundles/{name}`, by OPA's Bundle Service API. */
export const bundleRoutes = [
  route({
    method: 'GET',
    path: '/bundles/:name',
    params: { name: textOf('The name of `policies.publish.name`.') },
    roles: ['instance'],
    handler: 'bundles',
    isPolled: true,
    summary: 'The policies that serve, as a bundle for other services and for OPA',
    answers: {
      200: {
        description:
          'The bundle (`.tar.gz`). `Prefer: wait=SECONDS` with `If-None-Match` waits for another one, for 300 seconds at most.',
        types: [BUNDLE_TYPE],
        headers: { ETag: 'Digest of the bundle without its signature.' },
      },
      304: { description: 'The bundle is the one of `If-None-Match`.', types: [] },
    },
    answer: async ({ exchange, params }, { bundle }) => {
      if (bundle?.name !== params.name)
        throw new AppError(
          'not_found',
          `no bundle is published as ${params.name}: set policies.publish.name to serve the policies as a bundle`,
        )
      const gone = new AbortController()
      exchange.whenGone(() => gone.abort())
      const known = exchange.header('if-none-match')
      const isKnown = (etag: string): boolean => known !== undefined && namesTag(known, etag)
      const waitMs = exchange.method === 'HEAD' ? 0 : waitMsOf(exchange.header('prefer'))
      const version = await bundle.newerThan(isKnown, { waitMs, signal: gone.signal })
      if (!version.isNewer)
        return new Response(null, {
          status: 304,
          headers: { ETag: version.etag, 'Content-Type': BUNDLE_TYPE },
        })
      return new Response(Buffer.from(version.bytes), {
        headers: { 'Content-Type': BUNDLE_TYPE, ETag: version.etag, 'Cache-Control': 'no-cache' },
      })
    },
  }),
]

/**
 * True if the header has the tag in its list, weak or not, or is `*`: RFC 9110, section 13.1.2. Caches
 * between make tags weak.
 */
function namesTag(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  const listed = header.matchAll(/(?:^|,)\s*(?:W\/)?(?<tag>"[^"]*")(?=\s*(?:,|$))/g)
  return [...listed].some(({ groups }) => groups?.['tag'] === etag)
}

/** Reads `wait` of a Prefer header (RFC 7240, 4.3), such as `modes=snapshot,delta;wait=30`. */
function waitMsOf(prefer = ''): number {
  const seconds = Number(/(?:^|[;,\s])wait=(?<seconds>\d{1,6})/i.exec(prefer)?.groups?.['seconds'] ?? 0)
  return Math.min(seconds, MAX_WAIT_SECONDS) * MS_PER_SECOND
}
