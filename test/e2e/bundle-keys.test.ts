import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { findOpa } from '../../src/rego/opa/find-opa.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { failToServe, startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
const inside = (name: string): string => join(workspace.path, name)
afterAll(workspace.remove)

interface Bundles {
  readonly sources: readonly { readonly revision: string }[]
  readonly failure?: { readonly message: string; readonly errors: readonly { readonly message: string }[] }
}

/**
 * Three versions of a policy, each denying with its number, signed with either of two keys, and a
 * damaged one.
 */
beforeAll(async () => {
  const opa = await findOpa({ env: process.env })
  for (const name of ['old', 'new']) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    workspace.write({
      [`${name}.pem`]: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
      [`${name}.public.pem`]: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    })
  }
  workspace.write({ 'one.secret': 'the first secret of all', 'two.secret': 'the second secret of all' })
  const build = (version: number, key: string, ...entrypoints: readonly string[]): void => {
    const directory = `v${version}`
    workspace.write({
      [`${directory}/a.rego`]: `package static.a\nimport rego.v1\ndeny contains "version ${version}"\n`,
      [`${directory}/b.rego`]: `package static.b\nimport rego.v1\ndeny contains "b" if input.new.b\n`,
      [`${directory}/.manifest`]: JSON.stringify({ revision: String(version), roots: ['static'] }),
    })
    const isSecret = key.endsWith('.secret')
    const signing = isSecret ? ['HS256', '--signing-key', key] : ['ES256', '--signing-key', `${key}.pem`]
    const targets = entrypoints.flatMap((entrypoint) => ['-e', entrypoint])
    const args = ['build', '-t', 'wasm', ...targets, '-b', directory, '-o', `${directory}.tar.gz`]
    execFileSync(opa.path, [...args, '--signing-alg', ...signing], { cwd: workspace.path })
  }
  build(1, 'old', 'static/a', 'static/b')
  build(2, 'new', 'static/a', 'static/b')
  build(3, 'new', 'static/a')
  build(4, 'old', 'static/a', 'static/b')
  build(5, 'one.secret', 'static/a', 'static/b')
  build(6, 'two.secret', 'static/a', 'static/b')
})

/** Replaces the file atomically, like a deployment. */
function put(from: string, to: string): void {
  copyFileSync(inside(from), inside(`${to}.part`))
  renameSync(inside(`${to}.part`), inside(to))
}

async function reasons(tidegate: TidegateProcess): Promise<unknown> {
  const answer = await postJson(tidegate.url, '/v1/staticPolicy/eval', { input: { new: {} } })
  expect(answer.status).toBe(401)
  return objectOf(answer)['deny']
}

function untilHealthSays(tidegate: TidegateProcess, isSo: (bundles: Bundles) => boolean): Promise<Bundles> {
  return waitUntil(
    async () => {
      const bundles = objectOf(await ask(tidegate.url, { path: '/health?bundles' }))['bundles'] as Bundles
      return isSo(bundles) ? bundles : undefined
    },
    () => `not loaded: ${tidegate.logText()}`,
  )
}

test('a new key and its bundles replace the old ones, and unverified bundles change nothing', async () => {
  put('v1.tar.gz', 'served.tar.gz')
  put('old.public.pem', 'key.pem')
  const args = ['--bundle', 'served.tar.gz', '--verification-key', 'key.pem', '--signing-alg', 'ES256']
  const tidegate = await startTidegate({ workspace, directories: [], args: [...args, '--watch'] })
  expect(await reasons(tidegate)).toEqual(['version 1'])

  // The bundle comes before its key.
  put('v2.tar.gz', 'served.tar.gz')
  const early = await untilHealthSays(tidegate, ({ failure }) => failure !== undefined)
  expect(early.failure?.message).toContain("does not verify with the key 'default'")
  expect(early.sources).toEqual([expect.objectContaining({ revision: '1' })])
  expect(await reasons(tidegate)).toEqual(['version 1'])

  put('new.public.pem', 'key.pem')
  const rotated = await untilHealthSays(tidegate, ({ sources }) => sources[0]?.revision === '2')
  expect(rotated.failure).toBeUndefined()
  expect(await reasons(tidegate)).toEqual(['version 2'])

  const bad: readonly (readonly [file: string, says: string])[] = [
    ['v4.tar.gz', 'does not verify'],
    ['v3.tar.gz', 'cannot be evaluated for their verdict'],
    ['cut.tar.gz', 'read bundle'],
    ['changed.tar.gz', ''],
  ]
  const whole = readFileSync(inside('v2.tar.gz'))
  writeFileSync(inside('cut.tar.gz'), whole.subarray(0, whole.length - 100))
  const changed = Buffer.from(whole)
  changed[whole.length >> 1] = (changed[whole.length >> 1] ?? 0) ^ 1
  writeFileSync(inside('changed.tar.gz'), changed)
  for (const [file, says] of bad) {
    put('v2.tar.gz', 'served.tar.gz')
    await untilHealthSays(tidegate, ({ failure }) => failure === undefined)
    put(file, 'served.tar.gz')
    const { failure, sources } = await untilHealthSays(tidegate, (bundles) => bundles.failure !== undefined)
    expect(failure?.message).toContain(says)
    expect(failure?.message).not.toContain(workspace.path)
    expect(sources).toEqual([expect.objectContaining({ revision: '2' })])
    expect(await reasons(tidegate)).toEqual(['version 2'])
  }
  const errors = tidegate.log().filter(({ level }) => level === 'error')
  expect(errors.length).toBeGreaterThanOrEqual(1 + bad.length)
  expect(errors.every(({ msg }) => msg?.includes('the last good ones stay in service'))).toBe(true)
  expect(await tidegate.end('SIGTERM')).toBe(0)
}, 120_000)

test('a new secret and the bundles signed with it replace the old ones', async () => {
  put('v5.tar.gz', 'shared.tar.gz')
  put('one.secret', 'secret')
  const args = ['--bundle', 'shared.tar.gz', '--verification-key', 'secret', '--signing-alg', 'HS256']
  const settings = { workspace, directories: [], args: [...args, '--watch'], dataDir: 'secrets' }
  const tidegate = await startTidegate(settings)
  expect(await reasons(tidegate)).toEqual(['version 5'])

  put('v6.tar.gz', 'shared.tar.gz')
  await untilHealthSays(tidegate, ({ failure }) => failure !== undefined)
  expect(await reasons(tidegate)).toEqual(['version 5'])

  put('two.secret', 'secret')
  const rotated = await untilHealthSays(tidegate, ({ sources }) => sources[0]?.revision === '6')
  expect(rotated.failure).toBeUndefined()
  expect(await reasons(tidegate)).toEqual(['version 6'])

  workspace.write({ secret: '' })
  const { failure } = await untilHealthSays(tidegate, (bundles) => bundles.failure !== undefined)
  expect(failure?.message).toContain('secrets are missing')
  expect(await reasons(tidegate)).toEqual(['version 6'])
  expect(await tidegate.end('SIGTERM')).toBe(0)
}, 60_000)

test('a start with a bundle of another key is refused', async () => {
  put('v2.tar.gz', 'served.tar.gz')
  put('old.public.pem', 'key.pem')
  const args = ['--bundle', 'served.tar.gz', '--verification-key', 'key.pem', '--signing-alg', 'ES256']
  const { code, output } = await failToServe({ workspace, directories: [], args, dataDir: 'refused' })
  expect(code).toBe(2)
  expect(output).toContain("does not verify with the key 'default'")
})
