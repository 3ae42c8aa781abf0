import { afterAll, expect, it } from 'vitest'

import { ask } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const PIPELINES = Array.from({ length: 1000 }, (_, index) => ({
  id: `id-${index}`,
  name: `p${index}`,
  application: `app-${index % 100}`,
  stages: [],
}))
const workspace = makeWorkspace({ 'policies/tiny.rego': 'package tiny\n\ndeny := set()\n' })

afterAll(() => workspace.remove())

/** Of a page, with where the next one begins. */
async function pageOf(
  { url }: TidegateProcess,
  cursor: string,
): Promise<{ readonly count: number; readonly nextCursor?: string }> {
  const { text } = await ask(url, { path: `/pipelines?limit=500${cursor}` })
  const { pipelines, ...rest } = JSON.parse(text) as {
    readonly pipelines: readonly unknown[]
    readonly nextCursor?: string
  }
  return { ...rest, count: pipelines.length }
}

async function countPipelines(service: TidegateProcess): Promise<number> {
  let total = 0
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { count, nextCursor } = await pageOf(service, cursor)
    total += count
    cursor = nextCursor === undefined ? undefined : `&cursor=${nextCursor}`
  }
  return total
}

it('a reconciliation that a stop interrupts is finished after the next start', async () => {
  const storage = await startLoopbackServer(({ url }, response) =>
    respondJson(response, 200, url.startsWith('/v2/') ? [{ name: 'app-0' }] : PIPELINES),
  )
  const settings = { workspace, config: { orchestrator: { storageUrl: storage.origin } } }
  try {
    const interrupted = await startTidegate(settings)
    await waitUntil(
      async () => ((await pageOf(interrupted, '')).count > 0 ? true : undefined),
      () => `nothing came in: ${interrupted.logText()}`,
    )
    expect(await interrupted.end('SIGTERM')).toBe(0)
    expect(interrupted.log().filter(({ level }) => level === 'error')).toEqual([])
    const service = await startTidegate(settings)
    await waitUntil(
      async () => ((await countPipelines(service)) === PIPELINES.length ? true : undefined),
      () => `not all came in: ${service.logText()}`,
    )
    expect(await service.end('SIGTERM')).toBe(0)
  } finally {
    await storage.close()
  }
}, 60_000)
