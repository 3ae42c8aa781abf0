import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ask, postJson } from '../support/http-client.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({ 'policies/tiny.rego': 'package tiny\n\ndeny := set()\n' })
afterAll(() => workspace.remove())

describe('a service whose tidegate.db is moved away while it runs', () => {
  it('answers 503 and is not healthy, goes on deciding, and goes on in all when the file is back', async () => {
    const service = await startTidegate({ workspace })
    const path = join(workspace.path, 'data', 'tidegate.db')
    const post = async (eventId: string): Promise<number> =>
      (await postJson(service.url, '/oes/echo', { eventId, name: 'test' })).status
    const health = (): ReturnType<typeof ask> => ask(service.url, { path: '/health?plugins' })
    expect(await post('before')).toBe(200)
    renameSync(path, `${path}.away`)
    expect(await post('lost')).toBe(503)
    const { text } = await waitUntil(
      async () => {
        const found = await health()
        return found.status === 500 ? found : undefined
      },
      () => 'health stays green',
    )
    expect(text).toMatch(/tidegate\.db is not at its path any more.*move it back there/)
    await untilLogged(service, (line) => JSON.stringify(line).includes('nothing durable is written'))
    const decision = await postJson(service.url, '/v1/data/tiny', { input: {} })
    expect(decision.status).toBe(200)
    expect(existsSync(path)).toBe(false)
    renameSync(`${path}.away`, path)
    await waitUntil(
      async () => ((await health()).status === 200 ? true : undefined),
      () => 'health stays red',
    )
    expect(await post('after')).toBe(200)
    await service.end('SIGKILL')
    const next = await startTidegate({ workspace })
    const { text: records } = await ask(next.url, { path: '/audit?limit=100' })
    expect(records).toContain('"before"')
    expect(records).toContain('"after"')
    expect(records).not.toContain('"lost"')
    await next.end('SIGTERM')
  })
})
