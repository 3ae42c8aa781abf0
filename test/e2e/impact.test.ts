import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { packFiles } from '../support/make-bundle.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const MAX_BODY_BYTES = 1_000_000
const SERVER = { server: { maxBodyBytes: MAX_BODY_BYTES } }

const waits = (limit: number): string => `package static.waits
import rego.v1
deny contains sprintf("waits %d", [input["new"].wait]) if input["new"].wait > ${limit}
`

describe('what a change would do', () => {
  const workspace = makeWorkspace()
  let tidegate: TidegateProcess

  beforeAll(async () => {
    workspace.write({
      'policies/static/waits.rego': waits(10),
      'candidate/static/waits.rego': waits(20),
      'broken/static/waits.rego': 'package static.waits\nimport rego.v1\ndeny contains nothing(1)\n',
      'pipelines/long.json': JSON.stringify({ name: 'long', application: 'shop', stages: [], wait: 15 }),
    })
    tidegate = await startTidegate({
      workspace,
      config: { policies: { watch: true }, decisions: { maxInputBytes: 2000 }, ...SERVER },
    })
    for (const wait of [5, 15, 25]) {
      const body = { input: { new: { application: 'shop', wait } } }
      await postJson(tidegate.url, '/v1/staticPolicy/eval', body)
    }
    const secret = { input: { new: { application: 'shop', wait: 15, password: 'hunter2' } } }
    await postJson(tidegate.url, '/v1/staticPolicy/eval', secret)
  })

  afterAll(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })

  const ended = async (sent: Answered) =>
    await waitUntil(
      async () => {
        const path = `/policies/impact/${String(objectOf(sent)['impactId'])}`
        const run = objectOf(await ask(tidegate.url, { path }))
        return run['state'] === 'running' ? undefined : run
      },
      () => 'the comparison does not end',
    )
  const impact = (...args: readonly string[]) =>
    runTidegate(['impact', '--url', tidegate.url, ...args], { cwd: workspace.path })

  test('is shown over the decisions that were made, and fails where wanted', async () => {
    const { exitCode, stdout } = await impact(
      '--policies',
      'candidate',
      '--format',
      'json',
      '--fail-on',
      'flips',
    )
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      compared: { decisions: 3 },
      changes: { deny_to_allow: 1 },
      byApplication: [{ application: 'shop', changes: { deny_to_allow: 1 } }],
      flips: [{ before: { reasons: [{ deny: ['waits 15'] }] }, after: { outcome: 'allow' } }],
      notReplayable: { byReason: { redacted: 1 } },
    })
  })

  test('is nothing for the same policies', async () => {
    const { exitCode, stdout } = await impact('--policies', 'policies', '--fail-on', 'flips,errors')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('No change in 3 answers')
  })

  test('is complete and in order for more inputs than one thread evaluates', async () => {
    const inputs = Array.from({ length: 1100 }, (_, index) => {
      return { name: `case ${index}`, input: { new: { wait: index < 1050 ? 5 : 15 } } }
    })
    const body = { inputs, policies: { changes: { 'static/waits.rego': waits(20) } } }
    const { result } = await ended(await postJson(tidegate.url, '/policies/impact', body))
    const flips = Array.from({ length: 50 }, (_, index) => ({ id: `case ${1050 + index}` }))
    expect(result).toMatchObject({ unchanged: 1050, changes: { deny_to_allow: 50 }, flips })
  })

  test('is shown for one edited file among the policies that serve, and a mistake at its line', async () => {
    const compared = async (text: string) => {
      const policies = { changes: { 'static/waits.rego': text } }
      return await ended(await postJson(tidegate.url, '/policies/impact', { policies }))
    }
    expect(await compared(waits(20))).toMatchObject({ result: { changes: { deny_to_allow: 1 } } })
    const { error } = await compared('package static.waits\nimport rego.v1\ndeny contains nothing(1)\n')
    expect(error).toMatchObject({ errors: [{ location: { file: 'static/waits.rego', row: 3 } }] })
    const both = { changes: {}, directories: [{}] }
    const refused = await postJson(tidegate.url, '/policies/impact', { policies: both })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('exactly one of')])
  })

  describe('of a bundle that is sent as it is', () => {
    const send = (body: Buffer, query = '', type = 'application/gzip') =>
      ask(tidegate.url, {
        ...{ method: 'POST', path: `/policies/impact${query}`, body },
        headers: { 'content-type': type },
      })

    test.each(['application/gzip', 'application/vnd.openpolicyagent.bundles; v=1'])(
      'is shown, for %s',
      async (type) => {
        const sent = await send(
          await packFiles({ 'static/waits.rego': waits(20) }),
          '?name=branch&over=decisions&limit=100',
          type,
        )
        expect(sent.status).toBe(202)
        expect(await ended(sent)).toMatchObject({
          state: 'done',
          result: { candidate: { name: 'branch' }, changes: { deny_to_allow: 1 } },
        })
      },
    )

    test('is shown by the command, for an archive that is too large as base64 in JSON', async () => {
      const note = randomBytes(MAX_BODY_BYTES * 0.85).toString('hex')
      const bundle = await packFiles({
        'static/waits.rego': waits(20),
        'note/data.json': `{"note":"${note}"}`,
      })
      writeFileSync(`${workspace.path}/large.tar.gz`, bundle)
      expect((await impact('--policies', 'large.tar.gz')).stdout).toContain('waits 15')
      writeFileSync(`${workspace.path}/larger.tar.gz`, Buffer.concat([bundle, bundle]))
      expect((await impact('--policies', 'larger.tar.gz')).stderr).toContain(
        `exceeds ${MAX_BODY_BYTES} bytes (server.maxBodyBytes)`,
      )
    })

    test.each([
      ['a path that leads out', { '../out.rego': waits(20) }, 'leads out of the bundle'],
      ['a file below a file', { a: '', 'a/static.rego': waits(20) }, 'a is a file'],
      ['Rego that does not compile', { 'a.rego': 'package a\nimport rego.v1\nx := y\n' }, 'a.rego'],
    ])('fails with %s', async (_, files, message) => {
      const run = await ended(await send(await packFiles(files)))
      expect(run).toMatchObject({
        state: 'failed',
        error: { code: expect.not.stringContaining('internal') as unknown },
      })
      expect(JSON.stringify(run['error'])).toContain(message)
    })

    test('fails for a damaged archive, and for one that unpacks to too much', async () => {
      const whole = await packFiles({ 'static/waits.rego': waits(20) })
      const cut = await ended(await send(whole.subarray(0, whole.length - 20)))
      expect(cut).toMatchObject({
        state: 'failed',
        error: { message: expect.stringContaining('read bundle') as unknown },
      })
      const zeros = await promisify(gzip)(Buffer.alloc(1 << 20))
      const members = Buffer.concat(Array.from({ length: 600 }, () => zeros))
      const bomb = await ended(await send(members))
      expect(bomb).toMatchObject({
        state: 'failed',
        error: { message: expect.stringContaining('read bundle') as unknown },
      })
    })

    test('is refused if it is no archive, and if the query or the type is wrong', async () => {
      const bundle = await packFiles({ 'static/waits.rego': waits(20) })
      const refusals = [
        await send(Buffer.from('package a')),
        await send(bundle, '?over=decisions,nothing'),
        await send(bundle, '?limit=0'),
        await send(bundle, '?since=yesterday'),
        await send(bundle, '?unknown=1'),
        await send(Buffer.from('{"policies": {"changes": {}}}'), '?limit=5', 'application/json'),
        await send(bundle, '', 'text/plain'),
      ]
      expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400, 415])
      expect(refusals[0]?.text).toContain('must be a tar archive that gzip compressed')
      expect(refusals[5]?.text).toContain('with JSON, limit must be in the body')
    })
  })

  test('is shown over files without a service', async () => {
    const args = [
      '--policies',
      'candidate',
      '--against',
      'policies',
      '--over',
      'pipelines/',
      '--format',
      'csv',
    ]
    const { exitCode, stdout } = await runTidegate(['impact', ...args], { cwd: workspace.path })
    expect(exitCode).toBe(0)
    expect(stdout).toContain('deny_to_allow,input,pipelines/long.json: long,')
  })

  test('is a comment for a pull request with --format markdown', async () => {
    const { stdout } = await impact(
      '--policies',
      'candidate',
      '--over',
      'decisions,pipelines/',
      '--format',
      'markdown',
    )
    expect(stdout).toContain('### 2 of 4 answers would change: 2 deny → allow')
    expect(stdout).toContain('| Change | Application | What | Reasons |')
  })

  test('of policies that do not compile is their error, with file and line', async () => {
    const { exitCode, stderr } = await impact('--policies', 'broken')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('broken/static/waits.rego:3')
  })

  test('over an empty selection fails a check instead of passing it', async () => {
    const { exitCode, stderr } = await impact(
      '--policies',
      'candidate',
      '--application',
      'none',
      '--fail-on',
      'flips',
    )
    expect(exitCode).toBe(1)
    expect(stderr).toContain('nothing could be compared')
  })

  test('is compared one at a time, and can be stopped', async () => {
    const body = { policies: { directories: [{ 'static/waits.rego': waits(1) }] } }
    const first = await postJson(tidegate.url, '/policies/impact', body)
    expect(first.status).toBe(202)
    const { impactId } = objectOf(first)
    const second = await postJson(tidegate.url, '/policies/impact', body)
    expect([second.status, objectOf(second)['code']]).toEqual([503, 'impact_busy'])
    const path = `/policies/impact/${String(impactId)}`
    expect((await ask(tidegate.url, { method: 'DELETE', path })).status).toBe(200)
    expect((await ask(tidegate.url, { path })).status).toBe(404)
  })

  test.each([
    ['a path out of the directory', { directories: [{ '../evil.rego': 'package a' }] }],
    ['an absolute path', { directories: [{ '/evil.rego': 'package a' }] }],
    ['another kind of file', { directories: [{ 'run.sh': 'x' }] }],
    ['neither directories nor a bundle', {}],
    ['text that is not base64', { bundle: '%%' }],
  ])('is refused for %s', async (_, policies) => {
    const answer = await postJson(tidegate.url, '/policies/impact', { policies })
    expect(answer.status).toBe(400)
  })

  test('of a damaged bundle is its error', async () => {
    const body = { policies: { bundle: Buffer.from('no archive').toString('base64') } }
    const { impactId } = objectOf(await postJson(tidegate.url, '/policies/impact', body))
    const ended = await waitUntil(
      async () => {
        const run = objectOf(await ask(tidegate.url, { path: `/policies/impact/${String(impactId)}` }))
        return run['state'] === 'running' ? undefined : run
      },
      () => 'the comparison did not end',
    )
    expect(ended).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('bundle') as string },
    })
  })

  test.each([
    ['--policies', ['absent', '--against', 'policies', '--over', 'pipelines']],
    ['--against', ['candidate', '--against', './absent', '--over', 'pipelines']],
    ['--policies at a service', ['absent', '--against', 'policies']],
  ])('a directory of %s that does not exist is named', async (_, args) => {
    const { exitCode, stderr } = await impact('--policies', ...args)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/absent not found: name a directory of policies or a bundle/)
  })

  test('against an unknown revision names the one that serves', async () => {
    const { exitCode, stderr } = await impact('--policies', 'candidate', '--against', 'sha256:none')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Revision sha256:none is not stored')
    expect(stderr).toContain('the policies that serve have revision sha256:')
  })

  test('names a decision whose input was cut, and does not evaluate it', async () => {
    const note = 'x'.repeat(5000)
    await postJson(tidegate.url, '/v1/staticPolicy/eval', {
      input: { new: { application: 'long', wait: 15, note } },
    })
    const args = ['--policies', 'candidate', '--application', 'long', '--format', 'json']
    const { stdout } = await impact(...args)
    expect(JSON.parse(stdout)).toMatchObject({
      compared: { total: 0 },
      notReplayable: { byReason: { cut: 1 } },
    })
  })

  test('of a candidate that calls http.send uses recorded answers only, and says so', async () => {
    const text = `package static.waits
import rego.v1
deny contains "no owner" if http.send({"method": "get", "url": "http://127.0.0.1:1/"}).status_code == 404
`
    workspace.write({ 'sending/static/waits.rego': text })
    const { stdout } = await impact('--policies', 'sending', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      candidate: { warnings: [{ message: expect.stringContaining('http.send') as unknown }] },
      compared: { total: 0 },
      notReplayable: { byReason: { unrecorded_call: 3 } },
    })
  })

  test('has the revision of equal files that serve, wherever they are', async () => {
    const { stdout } = await impact('--policies', 'policies', '--format', 'json')
    const { candidate, against } = JSON.parse(stdout) as Record<string, { revision: string }>
    expect(candidate?.revision).toBe(against?.revision)
  })

  test('is compared with an earlier revision that served', async () => {
    const { decisions } = objectOf(await ask(tidegate.url, { path: '/decisions?limit=1' }))
    const [{ revision } = { revision: '' }] = decisions as { revision: string }[]
    const gone = await impact('--policies', 'policies', '--against', revision, '--format', 'json')
    expect(JSON.parse(gone.stdout)).toMatchObject({ changes: {}, against: { name: 'serving' } })
    workspace.write({ 'policies/static/waits.rego': waits(30) })
    await untilLogged(
      tidegate,
      ({ msg, revision: loaded }) => msg === 'policies loaded' && loaded !== revision,
    )
    const { stdout } = await impact('--policies', 'policies', '--against', revision, '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      against: { name: revision, revision },
      changes: { deny_to_allow: 2 },
    })
    const { stderr } = await impact('--policies', 'policies', '--against', 'sha256:none')
    expect(stderr).toContain(`Stored ones are ${revision}`)
  })
})
