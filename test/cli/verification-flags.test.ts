import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { findOpa } from '../../src/rego/opa/find-opa.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const SECRET = 'a-secret-of-our-own'
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const workspace = makeWorkspace({
  'sources/a.rego': 'package static.a\nimport rego.v1\ndeny contains "no" if input.new.bad\n',
  'notes/sources/a.rego': 'package static.a\nimport rego.v1\ndeny contains "no" if input.new.bad\n',
  'pipeline.json': '{"name": "p", "stages": []}',
  'ec.pem': ec.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  'public.pem': ec.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  'other.pem': other.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  'hmac.secret': `${SECRET}\n`,
  'two-keys.yaml': [
    'policies:',
    '  bundles: [es.tar.gz]',
    '  bundleSigning:',
    '    keyId: theirs',
    '    keys: [{id: theirs, algorithm: RS256, publicKeyFile: other.pem}, {id: ours, algorithm: ES256, publicKeyFile: public.pem}]',
    '    bundles: [{file: es.tar.gz, keyId: theirs}]',
  ].join('\n'),
})
const { path: cwd } = workspace
afterAll(workspace.remove)

beforeAll(async () => {
  const opa = await findOpa({ env: process.env })
  const build = (output: string, ...flags: readonly string[]): void => {
    const args = ['build', '-t', 'wasm', '-e', 'static/a', '-b', 'sources', '-o', output, ...flags]
    execFileSync(opa.path, args, { cwd })
  }
  build('plain.tar.gz')
  build('es.tar.gz', '--signing-alg', 'ES256', '--signing-key', 'ec.pem')
  build('hs.tar.gz', '--signing-alg', 'HS256', '--signing-key', SECRET)
  workspace.write({ 'claims.json': '{"scope": "write"}' })
  build('scoped.tar.gz', '--signing-alg', 'ES256', '--signing-key', 'ec.pem', '--claims-file', 'claims.json')
})

const ES = ['--verification-key', 'public.pem', '--signing-alg', 'ES256']
const HS = ['--verification-key', 'hmac.secret', '--signing-alg', 'HS256']
const check = (bundle: string, ...flags: readonly string[]) =>
  runTidegate(['check', '--bundle', bundle, ...flags, 'pipeline.json'], { cwd })

describe('the flags of opa that say how bundles are signed', () => {
  test.each([
    ['a public key', 'es.tar.gz', ES],
    ['a secret', 'hs.tar.gz', HS],
    ['a name for the key', 'es.tar.gz', [...ES, '--verification-key-id', 'ci']],
    ['a scope', 'scoped.tar.gz', [...ES, '--scope', 'write']],
    ['files that need no signature', 'es.tar.gz', [...ES, '--exclude-files-verify', 'notes/*,more.rego']],
    [
      'a configuration that names another key for the bundle',
      'es.tar.gz',
      ['--config', 'two-keys.yaml', '--verification-key-id', 'ours'],
    ],
  ])('let a bundle that is signed so be loaded: %s', async (_name, bundle, flags) => {
    const { exitCode, stderr } = await check(bundle, ...flags)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  test.each([
    ['no key', 'es.tar.gz', [], 'which key of yours must have signed'],
    ['an unsigned bundle', 'plain.tar.gz', ES, 'is not signed'],
    ['the algorithm that is the default', 'es.tar.gz', ['--verification-key', 'public.pem'], 'RS256'],
    [
      'the key of somebody else',
      'es.tar.gz',
      ['--verification-key', 'other.pem'],
      "its algorithm is 'ES256', that of the key 'default' is RS256",
    ],
    ['no scope', 'scoped.tar.gz', ES, "its scope is 'write', not ''"],
    ['another scope', 'es.tar.gz', [...ES, '--scope', 'write'], "its scope is '', not 'write'"],
    ['a file that is not there', 'es.tar.gz', ['--verification-key', 'gone.pem'], 'gone.pem'],
    [
      'an id that no key has',
      'es.tar.gz',
      ['--config', 'two-keys.yaml', '--verification-key-id', 'nobody'],
      "the key 'nobody' is not in policies.bundleSigning.keys",
    ],
    ['an algorithm without a key', 'es.tar.gz', ['--signing-alg', 'ES256'], 'requires --verification-key'],
    ['an unknown algorithm', 'es.tar.gz', [...ES.slice(0, 2), '--signing-alg', 'none'], 'Allowed choices'],
  ])('refuse what is not: %s', async (_name, bundle, flags, message) => {
    const { exitCode, stderr } = await check(bundle, ...flags)
    expect(exitCode).toBe(2)
    expect(stderr.replace(/\s+/g, ' ')).toContain(message)
  })

  test('take no secret from the command line, and do not repeat it', async () => {
    const run = await check('hs.tar.gz', '--verification-key', SECRET, '--signing-alg', 'HS256')
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toContain('must be a file')
    expect(run.stdout + run.stderr).not.toContain(SECRET)
  })

  test('are those of every command that loads bundles', async () => {
    const args = ['--bundle', 'es.tar.gz', ...ES, '--entrypoint', 'static/a/deny', '--input', '-']
    const evaluated = await runTidegate(['eval', ...args], { cwd, stdin: '{"new": {"bad": true}}' })
    expect(evaluated).toMatchObject({ exitCode: 0, stdout: '{"result":["no"]}\n' })
    for (const command of [['serve'], ['check'], ['eval'], ['pipelines', 'check'], ['pipelines', 'push']]) {
      const { stdout } = await runTidegate([...command, '--help'], { cwd })
      expect(stdout).toContain('--verification-key-id')
      expect(stdout).toContain('--exclude-files-verify')
    }
  })
})
