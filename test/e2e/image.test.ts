import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { packInto } from '../support/packed.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { startInstalled } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const CONTAINERFILE = readFileSync(join(PROJECT_ROOT, 'build/container/Containerfile'), 'utf8')
const MIB = 1024 * 1024
/** What the base image takes to download, generously: it cannot be fetched here. Its node is 95 MiB unpacked and some 40 packed, its libraries are 15 more. */
const BASE_LAYERS_BYTES = 60 * MIB
const MAX_LAYERS_BYTES = 150 * MIB

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

/** What `RUN` removes of the packages again. */
function removed(): string[] {
  const [, names = ''] = /rm -rf (.*) \\/.exec(CONTAINERFILE) ?? []
  return names.split(' ')
}

describe('the image, without a container engine', () => {
  const workspace = makeWorkspace({ 'away/.keep': '' })
  let layer = ''
  beforeAll(() => {
    layer = packInto(workspace).folder
    rmSync(join(layer, 'node_modules'), { recursive: true, force: true })
    for (const path of productionFolders()) {
      const from = join(PROJECT_ROOT, path)
      mkdirSync(dirname(join(layer, path)), { recursive: true })
      // Those below it are listed themselves.
      const filter = (source: string): boolean => !source.slice(from.length + 1).startsWith('node_modules')
      cpSync(from, join(layer, path), { recursive: true, filter })
    }
    for (const name of removed()) rmSync(join(layer, 'node_modules', name), { recursive: true, force: true })
  }, 180_000)
  afterAll(workspace.remove)

  it('copies and starts only what is there', () => {
    const copied = [...CONTAINERFILE.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    )
    expect(copied).toContain('package.json')
    expect(copied.filter((name) => !existsSync(join(PROJECT_ROOT, name)))).toEqual([])
    const started = [...CONTAINERFILE.matchAll(/"\/opt\/tidegate\/([^"]+)"/g)].map(([, name = '']) => name)
    expect(started).toContain('dist/cli.js')
    expect(started.filter((name) => !existsSync(join(layer, name)))).toEqual([])
    expect(removed()).toContain('better-sqlite3/deps')
  })

  it('has layers of less than 150 MB, as they are downloaded', () => {
    const archive = join(workspace.path, 'layer.tgz')
    execFileSync('tar', ['-czf', archive, '-C', dirname(layer), 'package'])
    const { size } = statSync(archive)
    // Were it less, something would not have been copied.
    expect(size).toBeGreaterThan(5 * MIB)
    expect(size + BASE_LAYERS_BYTES).toBeLessThan(MAX_LAYERS_BYTES)
  })

  it('serves of what it copies alone, and its health check sees so', async () => {
    const args = ['serve', '--addr', '127.0.0.1:0', '--data-dir', join(workspace.path, 'data')]
    const service = await startInstalled(join(layer, 'dist/cli.js'), args, join(workspace.path, 'away'))
    try {
      const env = { ...process.env, TIDEGATE_SERVER_ADDR: new URL(service.url).host }
      const check = join(layer, 'build/container/health-check.js')
      expect(() => execFileSync(process.execPath, [check], { env })).not.toThrow()
    } finally {
      expect(await service.end('SIGTERM')).toBe(0)
    }
  })
})
