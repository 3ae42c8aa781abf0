import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { findBundledOpa } from '../../src/rego/opa/find-opa.js'
import { officialAsset } from '../../src/rego/opa/official-releases.js'
import { startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const ASSET = officialAsset(process.platform, process.arch) ?? ''
const OTHER = Buffer.from('#!/bin/sh\necho "Version: 9.9.9"\n')
const OTHER_SUM = createHash('sha256').update(OTHER).digest('hex')

describe('opa install', () => {
  const workspace = makeWorkspace()
  let mirror: LoopbackServer
  let env: Record<string, string>
  const run = (...args: readonly string[]): Promise<ProgramRun> =>
    runTidegate(args, { cwd: workspace.path, env })
  const programAt = (release: string): string =>
    join(env['XDG_CACHE_HOME'] ?? '', 'tidegate/opa', release, 'opa')

  beforeAll(async () => {
    const official = readFileSync(findBundledOpa(process.platform, process.arch) ?? '')
    mirror = await startLoopbackServer(({ url }, response) => {
      if (url === `/v0.70.0/${ASSET}`) response.writeHead(302, { location: '/elsewhere' }).end()
      else if (url === '/elsewhere') response.end(official)
      else if (url.startsWith('/v1.20.2/') || url.startsWith('/v9.9.9/')) response.end(OTHER)
      else response.writeHead(404).end('no such release')
    })
  })
  beforeEach(({ task }) => {
    const cache = join(workspace.path, createHash('sha256').update(task.name).digest('hex').slice(0, 8))
    env = { XDG_CACHE_HOME: cache, TIDEGATE_OPA_DOWNLOADS: `${mirror.origin}/` }
  })
  afterAll(async () => {
    await mirror.close()
    workspace.remove()
  })

  it('keeps the official program in the cache, where it is found before the copy of npm', async () => {
    const installed = await run('opa', 'install', '0.70.0')
    expect(installed).toMatchObject({
      exitCode: 0,
      stdout: `opa 0.70.0 is installed: ${programAt('0.70.0')}\n`,
      stderr: '',
    })
    expect(statSync(programAt('0.70.0')).mode & 0o111).not.toBe(0)
    expect(readdirSync(join(programAt('0.70.0'), '..')).sort()).toEqual(['opa', 'opa.sha256'])
    const { stdout } = await run('version', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      opa: '0.70.0 (from tidegate opa install)',
      opaPath: programAt('0.70.0'),
      opaReason: expect.stringContaining('none on PATH') as string,
    })
  })

  it('installs nothing that has another SHA-256 than the one pinned', async () => {
    const { exitCode, stderr } = await run('opa', 'install', '1.20.2')
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`its SHA-256 is ${OTHER_SUM}, expected `)
    expect(readdirSync(join(programAt('1.20.2'), '..'))).toEqual([])
    // An incomplete download is not used.
    expect((await run('version')).stdout).not.toContain('1.20.2')
  })

  it('wants a SHA-256 for a release that it does not know, and says where to read it', async () => {
    const { exitCode, stderr } = await run('opa', 'install', 'v9.9.9')
    expect(exitCode).toBe(2)
    expect(stderr).toContain(
      `--sha256 (the OPA project publishes it at ${mirror.origin}/v9.9.9/${ASSET}.sha256)`,
    )
    expect(mirror.seen.filter(({ url }) => url.startsWith('/v9.9.9'))).toEqual([])
  })

  it('refuses a given SHA-256 that contradicts the one pinned', async () => {
    const { exitCode, stderr } = await run('opa', 'install', '0.70.0', '--sha256', OTHER_SUM)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`not ${OTHER_SUM}`)
  })

  it('uses the newest of several releases, and none that has changed since', async () => {
    const flags = ['--sha256', OTHER_SUM.toUpperCase()]
    expect(await run('opa', 'install', '9.9.9', ...flags)).toMatchObject({ exitCode: 0 })
    expect(await run('opa', 'install', '0.70.0')).toMatchObject({ exitCode: 0 })
    expect((await run('version')).stdout).toContain('9.9.9 (from tidegate opa install)')
    appendFileSync(programAt('9.9.9'), 'exit 1\n')
    expect((await run('version')).stdout).toContain('has changed since it was installed')
  })

  it.each([
    ['not there', ['opa', 'install', '9.9.8', '--sha256', OTHER_SUM], 'answers with status 404'],
    ['no release', ['opa', 'install', 'latest'], 'latest is not the number of a release'],
    ['no sum', ['opa', 'install', '9.9.9', '--sha256', 'abc'], '64 hexadecimal digits'],
    ['no URL', ['opa', 'install', '--from', 'mirror'], 'must be an http or https URL'],
    [
      'no server',
      ['opa', 'install', '--from', 'http://127.0.0.1:9', '9.9.9', '--sha256', OTHER_SUM],
      'cannot download',
    ],
  ])('tells what is wrong with what is %s', async (_, args, message) => {
    const { exitCode, stderr } = await run(...args)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })
})
