import { z } from 'zod'

import { packageVersion } from '../../lib/package-root.js'
import type { ServiceClient } from '../session/service-client.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'
import { lookAtFigures } from './look-at-figures.js'

const Parts = z.object({
  plugins: z.record(z.string(), z.object({ state: z.string(), message: z.string().optional() })).default({}),
})
const Bundles = z.object({
  bundles: z.object({ revision: z.string().optional(), failure: z.unknown().optional() }).loose(),
})
const Document = z.object({ info: z.object({ version: z.string() }).optional() })
const DENIED = 'give a token of an auditor with --token-file'

/** Looks at a running service: its parts, its policies, its version and what its figures tell. */
export async function lookAtService(client: ServiceClient): Promise<Finding[]> {
  const reached = await attempt('service', 'its log says why, where it was started', async () => {
    await client.ask(z.looseObject({}), { path: '/health' })
    return ok('service', `answers at ${client.shown}`)
  })
  if (reached.state === 'bad') return [reached]
  return [
    reached,
    ...(await lookAtParts(client)),
    await lookAtPolicies(client),
    await lookAtVersion(client),
    ...(await lookAtFigures(client)),
  ]
}

async function lookAtParts(client: ServiceClient): Promise<Finding[]> {
  const findings: Finding[] = []
  const advice = 'GET /health?plugins says which part is down, docs/guides/troubleshoot.md what to do'
  const asked = await attempt('parts', advice, async () => {
    // 500 while a part is not up.
    const request = { path: '/health', query: { plugins: true }, answersWith: 500 }
    const { plugins } = await client.ask(Parts, request)
    for (const [name, { state, message = '' }] of Object.entries(plugins)) {
      if (state === 'OK') continue
      const found = state === 'WARN' ? warning : bad
      findings.push(found(`part ${name}`, `${state} ${message}`.trim(), 'see what its message names'))
    }
    const down = findings.filter((finding) => finding.state === 'bad')
    return ok('parts', `${Object.keys(plugins).length - down.length} are up`)
  })
  return [asked, ...findings]
}

function lookAtPolicies(client: ServiceClient): Promise<Finding> {
  return attempt('policies', 'GET /health?bundles', async () => {
    const { bundles } = await client.ask(Bundles, { path: '/health', query: { bundles: true } })
    const serving = `revision ${bundles.revision ?? 'unknown'} serves`
    if (bundles.failure === undefined) return ok('policies', serving)
    const advice = 'tidegate check compiles them and says what is wrong'
    return bad(
      'policies',
      `${serving}, what came after it was not loaded: ${JSON.stringify(bundles.failure)}`,
      advice,
    )
  })
}

function lookAtVersion(client: ServiceClient): Promise<Finding> {
  return attempt('version', DENIED, async () => {
    const { info } = await client.ask(Document, { path: '/openapi.json', answersWith: 404 })
    if (info === undefined) return ok('version', 'is not told at an address that serves health alone')
    if (info.version === packageVersion()) return ok('version', info.version)
    const text = `the service is ${info.version}, this program ${packageVersion()}`
    return warning('version', text, 'use the command line that belongs to the service')
  })
}
