import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startReceiver } from '../support/receiver.js'
import type { Receiver } from '../support/receiver.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const waits = (limit: number): string => `# METADATA
# title: Waits
package static.waits
import rego.v1

deny contains sprintf("waits %d", [input.new.wait]) if {
	input.new.wait > data.limits.wait + ${limit}
}
`
const OWNED = `package static.owned
import rego.v1
deny contains "nobody owns it" if {
	response := http.send({"method": "get", "url": input.new.inventory})
	response.status_code == 404
}
`

describe('why a decision was made', () => {
  const files = {
    'policies/static/waits.rego': waits(0),
    'policies/static/owned.rego': OWNED,
    'policies/limits/data.json': '{"wait": 10}',
  }
  const workspace = makeWorkspace(files)
  const second = makeWorkspace(files)
  let inventory: Receiver
  let tidegate: TidegateProcess
  let working: TidegateProcess
  let requests = 0

  beforeAll(async () => {
    inventory = await startReceiver((response) => {
      requests += 1
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{}')
    })
    tidegate = await startTidegate({
      workspace,
      config: {
        decisions: { maxInputBytes: 2000, mask: ['/new/hidden'] },
        policies: { watch: true, requests: { allowedHosts: ['127.0.0.1'] } },
      },
    })
    working = await startTidegate({
      workspace: second,
      config: { server: { workers: 2 }, policies: { requests: { allowedHosts: ['127.0.0.1'] } } },
    })
  })
  afterAll(async () => {
    await Promise.all([tidegate.end('SIGTERM'), working.end('SIGTERM')])
    await inventory.close()
    workspace.remove()
    second.remove()
  })

  /** Saves a pipeline and returns the id of the decision. */
  const decide = async (pipeline: object): Promise<string> => {
    const body = { input: { new: { application: 'shop', ...pipeline } } }
    return String(objectOf(await postJson(tidegate.url, '/v1/staticPolicy/eval', body))['decisionId'])
  }
  const why = (id: string, query = ''): Promise<Answered> =>
    ask(tidegate.url, { path: `/decisions/${id}/why${query}` })

  test('a denial is explained by the package that denied, with file, line, labels and values', async () => {
    const answer = await why(await decide({ wait: 15 }))
    expect(answer.status).toBe(200)
    expect(objectOf(answer)).toMatchObject({
      outcome: 'deny',
      reproduced: true,
      notes: [],
      packages: [
        {
          package: 'static.waits',
          title: 'Waits',
          rules: [
            {
              ...{ rule: 'deny', file: 'static/waits.rego', row: 6, outcome: 'fired' },
              results: [
                {
                  value: '"waits 15"',
                  values: expect.arrayContaining([{ term: 'data.limits.wait', values: ['10'] }]) as unknown,
                },
              ],
            },
          ],
        },
      ],
    })
  })

  test('an allow is explained by the first failed condition of every package', async () => {
    const answer = objectOf(await why(await decide({ wait: 5 })))
    expect(answer).toMatchObject({ outcome: 'allow', reproduced: true })
    expect(answer['packages']).toMatchObject([
      { package: 'static.owned', rules: [{ outcome: 'not_fired', failed: { row: 4 } }] },
      {
        package: 'static.waits',
        rules: [{ failed: { row: 7, source: '\tinput.new.wait > data.limits.wait + 0' } }],
      },
    ])
  })

  test('requests of policies are answered from the record, which is said, and none is sent', async () => {
    const id = await decide({ inventory: `${inventory.url}/none` })
    const before = requests
    const answer = objectOf(await why(id))
    expect(answer).toMatchObject({
      reproduced: true,
      notes: [{ code: 'recorded_requests' }],
      packages: [{ package: 'static.owned', rules: [{ outcome: 'fired' }] }],
    })
    expect(requests).toBe(before)
  })

  test.each([
    ['this process', () => tidegate.url],
    ['worker processes', () => working.url],
  ])('a new evaluation by %s is explained with ?explain', async (_, url) => {
    const before = requests
    const explain = async (path: string, input: object): Promise<string> => {
      const answer = await postJson(url(), `/v1/data/${path}`, { input })
      return JSON.stringify(objectOf(answer)['explanation'])
    }
    const pipeline = { new: { application: 'shop', wait: 15, inventory: `${inventory.url}/none` } }
    expect(await explain('static/waits/deny?explain=notes', pipeline)).toContain('data.limits.wait = 10')
    expect(await explain('static/waits/deny?explain=fails&pretty', { new: { wait: 5 } })).toContain(
      'static/waits.rego:7:2: this condition does not hold',
    )
    expect(await explain('static/owned/deny?explain=full', pipeline)).toContain('nobody owns it')
    // The explanation uses the answer that the decision got.
    expect(requests).toBe(before + 1)
  })

  test('the log names the rule, file and line of each reason, and is filtered by them', async () => {
    const id = await decide({ wait: 17 })
    const listed = async (query: string) => {
      const { decisions } = objectOf(await ask(tidegate.url, { path: `/decisions?${query}` }))
      return decisions as { decisionId: string; packages: unknown }[]
    }
    const found = await listed('rule=static/waits.rego:6&limit=1')
    expect(found).toMatchObject([
      {
        decisionId: id,
        packages: [
          {
            package: 'static.waits',
            rules: [{ rule: 'deny', file: 'static/waits.rego', row: 6, deny: ['waits 17'] }],
          },
        ],
      },
    ])
    expect((await listed('rule=deny&package=static.waits')).length).toBeGreaterThan(0)
    expect(await listed('rule=static/waits.rego:1')).toEqual([])
  })

  test('a redacted or masked input is named', async () => {
    const answer = objectOf(await why(await decide({ wait: 15, password: 'hunter2', hidden: 3 })))
    expect(answer['notes']).toMatchObject([
      { code: 'redacted_input', message: expect.stringContaining('/new/password, /new/hidden') as unknown },
    ])
  })

  test('an input that was cut is refused with its size, not guessed', async () => {
    const answer = await why(await decide({ wait: 15, note: 'x'.repeat(5000) }))
    expect(answer.status).toBe(409)
    expect(answer.text).toMatch(/Only \d+ of \d+ bytes of the input/)
  })

  test('a decision is explained by the revision that made it, after a reload, until that is gone', async () => {
    const id = await decide({ wait: 15 })
    workspace.write({ 'policies/static/waits.rego': waits(20) })
    await untilLogged(
      tidegate,
      ({ msg, durationMs }) => msg === 'policies loaded' && durationMs !== undefined && reloads() > 1,
    )
    expect(objectOf(await why(id))).toMatchObject({ outcome: 'deny', reproduced: true })
    rmSync(join(workspace.path, 'data', 'revisions'), { recursive: true })
    const answer = await why(id)
    expect([answer.status, objectOf(answer)['code']]).toEqual([404, 'revision_gone'])
  })

  const reloads = (): number => tidegate.log().filter(({ msg }) => msg === 'policies loaded').length

  test('the command shows source lines and carets, and JSON', async () => {
    workspace.write({ 'policies/static/waits.rego': waits(30) })
    const seen = reloads()
    await waitUntil(
      () => (reloads() > seen ? true : undefined),
      () => 'the policies are not loaded again',
    )
    const id = await decide({ wait: 35 })
    const run = (...args: readonly string[]) =>
      runTidegate(['decisions', 'why', id, '--url', tidegate.url, ...args], { cwd: workspace.path })
    const { exitCode, stdout } = await run()
    expect(exitCode).toBe(0)
    expect(stdout).toContain('static.waits: Waits')
    expect(stdout).toContain('\n        input.new.wait > data.limits.wait + 30\n        ^\n')
    expect(JSON.parse((await run('--format', 'json')).stdout)).toMatchObject({ outcome: 'allow' })
    const other = await run('--package', 'static.wait')
    expect(other).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('did you mean static.waits?') as unknown,
    })
  })
})

describe('why, with packages that only warn', () => {
  const rule = (name: string, annotation: string, head = 'deny'): Record<string, string> => ({
    [`policies/static/${name}.rego`]: `${annotation}package static.${name}
import rego.v1

${head} contains sprintf("${name} waits %d", [input.new.wait]) if input.new.wait > 10
`,
  })
  const annotated = (level: string): string => `# METADATA\n# custom:\n#   level: ${level}\n`
  const workspace = makeWorkspace({
    ...rule('advised', annotated('warn')),
    ...rule('configured', ''),
    ...rule('unused', annotated('"off"')),
    ...rule('hint', '', 'warn'),
    ...rule('strict', ''),
    'policies/static/strict.rego':
      rule('strict', '')['policies/static/strict.rego']?.replace('> 10', '> 20') ?? '',
    'policies/runtime/soak.rego': `${annotated('warn')}package runtime.soak
import rego.v1
deny contains "soaks" if input.wait > 10
`,
  })
  let tidegate: TidegateProcess
  beforeAll(async () => {
    const levels = [{ package: 'static.configured', level: 'warn' }]
    tidegate = await startTidegate({ workspace, config: { policies: { levels } } })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })

  const flat = {
    ...{ payloadConstraint: [], startTime: 1, application: 'shop', name: 'p' },
    ...{ stage: 'Soak', executionId: 'e', user: 'ana' },
  }
  const explained = async (path: string, input: object, query = '') => {
    const newest = async (): Promise<string | undefined> => {
      const { decisions } = objectOf(await ask(tidegate.url, { path: '/decisions?limit=1' }))
      return (decisions as { decisionId: string }[])[0]?.decisionId
    }
    const before = await newest()
    await postJson(tidegate.url, path, input)
    const decisionId = await waitUntil(
      async () => {
        const found = await newest()
        return found === before ? undefined : found
      },
      () => 'the decision is not in the log',
    )
    const answer = objectOf(await ask(tidegate.url, { path: `/decisions/${decisionId}/why${query}` }))
    const packages = answer['packages'] as { package: string; rules: { rule: string; outcome: string }[] }[]
    const rules = packages.flatMap((one) =>
      one.rules.map(({ rule: name, outcome }) => `${one.package}.${name} ${outcome}`),
    )
    return { answer, rules: rules.toSorted() }
  }
  const save = (wait: number, query = '') =>
    explained('/v1/staticPolicy/eval', { input: { new: { application: 'shop', wait } } }, query)

  test('an allow with warnings is the same again, and its warnings are explained', async () => {
    const { answer, rules } = await save(15)
    expect(answer).toMatchObject({ outcome: 'allow', reproduced: true })
    expect(rules).toEqual([
      'static.advised.deny fired',
      'static.configured.deny fired',
      'static.hint.warn fired',
      'static.strict.deny not_fired',
    ])
    expect(answer['notes']).toEqual([
      {
        code: 'level_warn',
        message: 'The denials of packages at the level warn are warnings: static.advised, static.configured.',
      },
    ])
  })

  test('a denial is explained with the rules that warned', async () => {
    const { answer, rules } = await save(25)
    expect(answer).toMatchObject({ outcome: 'deny', reproduced: true })
    expect(rules).toEqual([
      'static.advised.deny fired',
      'static.configured.deny fired',
      'static.hint.warn fired',
      'static.strict.deny fired',
    ])
  })

  test('a package that only warns, or is off, is explained by its name', async () => {
    expect((await save(15, '?package=static.advised')).rules).toEqual(['static.advised.deny fired'])
    expect((await save(15, '?package=static.hint')).rules).toEqual(['static.hint.warn fired'])
    expect((await save(15, '?package=static.unused')).rules).toEqual(['static.unused.deny fired'])
  })

  test.each(['runtime/soak', 'runtime/soak/deny'])(
    'a runtime policy at %s that warns is explained',
    async (path) => {
      const { answer, rules } = await explained(`/v1/data/${path}`, { ...flat, wait: 15 })
      expect(answer).toMatchObject({ outcome: 'allow', reproduced: true })
      expect(rules).toEqual(['runtime.soak.deny fired'])
    },
  )

  test('a denial that an exception excuses is the same again', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const exception = { package: 'static.strict', application: 'shop', reason: 'moves', until }
    expect((await postJson(tidegate.url, '/exceptions', exception)).status).toBeLessThan(300)
    const { answer, rules } = await save(25)
    expect(answer).toMatchObject({ outcome: 'allow', reproduced: true })
    expect(rules).toContain('static.strict.deny fired')
  })
})
