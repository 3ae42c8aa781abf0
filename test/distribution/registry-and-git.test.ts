import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, afterEach, describe, expect, test } from 'vitest'

import type { FetchedBundle } from '../../src/distribution/fetching/fetch-bundle.js'
import { fetchFromGit } from '../../src/distribution/fetching/git-bundle.js'
import type { GitSettings } from '../../src/distribution/fetching/git-bundle.js'
import { fetchFromRegistry } from '../../src/distribution/fetching/oci-bundle.js'
import type { OciSettings } from '../../src/distribution/fetching/oci-bundle.js'
import { authHeaders, Secret } from '../../src/lib/outbound/credentials.js'
import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import { unpackBundle } from '../../src/rego/archive/unpack-bundle.js'
import { findProgram } from '../support/find-program.js'
import { startImageRegistry } from '../support/image-registry.js'
import type { ImageRegistry } from '../support/image-registry.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)
const { signal } = new AbortController()
const request = (known?: string) => ({ known, waitMs: 0, signal })

function changed(fetched: FetchedBundle): Extract<FetchedBundle, { isChanged: true }> {
  return fetched.isChanged ? fetched : expect.fail('it is unchanged')
}

describe('an image in a registry', () => {
  let registry: ImageRegistry
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()))
    await registry.close()
  })
  const bundle = Buffer.from('a bundle')
  const headers = authHeaders({ type: 'basic', username: 'user', password: new Secret('password') })

  function fetching(more: Partial<OciSettings> = {}) {
    const client = makeOutboundClient({ allowLoopback: true, allowPrivate: false })
    closing.push(() => client.close())
    const settings = { url: registry.url, repository: 'team/policies', reference: 'latest', timeoutMs: 9000 }
    return fetchFromRegistry({ ...settings, headers, ...more }, { registry: client, storage: client })
  }

  test('gives its bundle once for each manifest', async () => {
    registry = await startImageRegistry('team/policies')
    registry.push('latest', bundle)
    const fetch = fetching()
    const { bytes, version } = changed(await fetch(request()))
    expect(Buffer.from(bytes)).toEqual(bundle)
    expect(version).toMatch(/^sha256:[\da-f]{64}$/)
    expect(await fetch(request(version))).toEqual({ isChanged: false, isLongPoll: false })
    registry.push('latest', Buffer.from('another'))
    expect(changed(await fetch(request(version))).version).not.toBe(version)
    expect(changed(await fetching({ reference: version ?? '' })(request())).version).toBe(version)
  })

  test('is fetched with a token of the token server at its own address', async () => {
    registry = await startImageRegistry('team/policies', (own) => `${own}/token`)
    registry.push('latest', bundle)
    expect(Buffer.from(changed(await fetching()(request())).bytes)).toEqual(bundle)
    const asked = registry.seen.find(({ url }) => url.startsWith('/token'))
    expect(asked?.url).toBe('/token?service=registry&scope=repository%3Ateam%2Fpolicies%3Apull')
  })

  test('gives no credentials to a token server elsewhere, unless it is configured', async () => {
    const elsewhere = await startImageRegistry('other')
    closing.push(() => elsewhere.close())
    registry = await startImageRegistry('team/policies', () => `${elsewhere.url}/token`)
    registry.push('latest', bundle)
    await expect(fetching()(request())).rejects.toThrow(`names ${elsewhere.url} as its token server`)
    expect(elsewhere.seen).toEqual([])
    const fetched = await fetching({ tokenServer: elsewhere.url })(request())
    expect(Buffer.from(changed(fetched).bytes)).toEqual(bundle)
  })

  test('is refused with another layer than its manifest names, none or two, and when it is missing', async () => {
    registry = await startImageRegistry('team/policies')
    await expect(fetching()(request())).rejects.toThrow('responded with 404')
    registry.push('latest')
    await expect(fetching()(request())).rejects.toThrow('has 0 layers')
    registry.push('latest', bundle, Buffer.from('more'))
    await expect(fetching()(request())).rejects.toThrow('has 2 layers')
    registry.push('latest', bundle)
    registry.swapLayers(Buffer.from('swapped'))
    await expect(fetching()(request())).rejects.toThrow('another digest')
  })
})

describe.skipIf(findProgram('git') === undefined)('a Git repository', () => {
  let made = 0
  function repository() {
    const path = join(workspace.path, `repository-${made++}`)
    workspace.write({ [`repository-${made - 1}/policies/a.rego`]: 'package a\n' })
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
        cwd: path,
        stdio: 'pipe',
      }).toString()
    git('init', '--quiet', '--initial-branch', 'main')
    const commit = (...flags: readonly string[]): string => {
      git('add', '-A')
      git('commit', '--quiet', '--allow-empty', '-m', 'change', ...flags)
      return git('rev-parse', 'HEAD').trim()
    }
    const settings: GitSettings = {
      ...{ url: path, ref: 'main', directory: 'policies', timeoutMs: 20_000 },
      folder: join(workspace.path, `copy-${made}`),
    }
    return { path, name: `repository-${made - 1}`, git, commit, settings }
  }

  test('gives the Rego and data of a folder at a branch, with the commit as revision', async () => {
    const { path, name, commit, settings } = repository()
    workspace.write({
      [`${name}/policies/b/data.json`]: '{"x":1}',
      [`${name}/policies/README.md`]: 'text',
      [`${name}/policies/é/a file.rego`]: 'package b\n',
      [`${name}/outside.rego`]: 'package c\n',
    })
    symlinkSync('/etc/passwd', join(path, 'policies/link.rego'))
    const first = commit()
    const fetch = fetchFromGit(settings)
    const { bytes, version } = changed(await fetch(request()))
    expect(version).toBe(first)
    const files = await unpackBundle('git', bytes)
    expect([...files.keys()].sort()).toEqual(['.manifest', 'a.rego', 'b/data.json', 'é/a file.rego'])
    expect(files.get('é/a file.rego')?.toString()).toBe('package b\n')
    expect(JSON.parse(files.get('.manifest')?.toString() ?? '')).toEqual({ revision: first })
    expect(await fetch(request(version))).toMatchObject({ isChanged: false })
    const second = commit()
    expect(changed(await fetch(request(first))).version).toBe(second)
  })

  test('that is missing, or lacks the ref or the folder, is named', async () => {
    const { commit, settings } = repository()
    commit()
    await expect(fetchFromGit({ ...settings, ref: 'none' })(request())).rejects.toThrow(
      'git cannot fetch none',
    )
    await expect(fetchFromGit({ ...settings, directory: 'none' })(request())).rejects.toThrow(
      'git cannot fetch',
    )
    await expect(fetchFromGit({ ...settings, url: '/none' })(request())).rejects.toThrow(
      'git cannot fetch main',
    )
  })

  test.skipIf(findProgram('ssh-keygen') === undefined)(
    'gives only commits that a configured key has signed',
    async () => {
      const { git, commit, settings } = repository()
      const key = join(workspace.path, `key-${made}`)
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
      const [type = '', text = ''] = execFileSync('ssh-keygen', ['-y', '-f', key]).toString().split(' ')
      const name = `signers-${made}`
      workspace.write({ [name]: `a@example.org ${type} ${text.trim()}\n` })
      const fetch = fetchFromGit({ ...settings, allowedSigners: join(workspace.path, name) })
      commit()
      await expect(fetch(request())).rejects.toThrow('has no good signature')
      git('config', 'gpg.format', 'ssh')
      git('config', 'user.signingkey', key)
      const signed = commit('-S')
      const { version, signer } = changed(await fetch(request()))
      expect([version, signer]).toEqual([signed, expect.stringMatching(/^a@example\.org SHA256:\S{43}$/)])
      const other = join(workspace.path, `other-${made}`)
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', other])
      git('config', 'user.signingkey', other)
      commit('-S')
      await expect(fetch(request(signed))).rejects.toThrow('has no good signature')
    },
  )
})
