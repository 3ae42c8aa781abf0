import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

import { packInto } from '../support/packed.js'
import type { Packed } from '../support/packed.js'
import { startInstalled } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const COMPONENT = z.object({
  type: z.literal('library'),
  'bom-ref': z.string(),
  name: z.string(),
  version: z.string(),
  purl: z.string().regex(/^pkg:npm\/(?:%40[^/@]+\/)?[^/@]+@[^@]+$/),
  licenses: z.array(
    z.union([z.object({ license: z.object({ id: z.string() }) }), z.object({ expression: z.string() })]),
  ),
  properties: z.tuple([z.object({ name: z.literal('tidegate:bundled'), value: z.enum(['true', 'false']) })]),
})
const BILL = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  version: z.literal(1),
  components: z.array(COMPONENT).nonempty(),
})

describe('the package', () => {
  const workspace = makeWorkspace({ 'empty/.keep': '' })
  let packed: Packed
  beforeAll(() => {
    packed = packInto(workspace)
  })
  afterAll(workspace.remove)
  const read = (file: string): string => readFileSync(join(packed.folder, file), 'utf8')

  it('has neither source maps nor sources nor tests', () => {
    expect(
      packed.files.filter((file) => /\.map$|\.tsx?$|\.tsbuildinfo$|^(?:src|bench)\//.test(file)),
    ).toEqual([])
  })

  it('has the editor of the console', () => {
    expect(packed.files).toContain('dist/browser/editor.js')
  })

  it('holds every file that its pages link to', () => {
    const pages = packed.files.filter((file) => file.endsWith('.md'))
    expect(pages.length).toBeGreaterThan(10)
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|mailto:|#)(?<path>[^)#\s]+)/g)]
        .map(({ groups }) => normalize(join(dirname(page), groups?.['path'] ?? '')).replace(/\/$/, ''))
        .filter((target) => !packed.files.some((file) => file === target || file.startsWith(`${target}/`)))
        .map((target) => `${page} -> ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('serves in an empty directory with its own policies, and shows the next steps', async () => {
    const empty = join(workspace.path, 'empty')
    const service = await startInstalled(
      join(packed.folder, 'dist/cli.js'),
      ['serve', '--addr', '127.0.0.1:0'],
      empty,
    )
    try {
      const input = JSON.parse(read('test/cases/pipelines/deny-unjudged-production-deploy.json')) as unknown
      const answer = await fetch(`${service.url}/v1/staticPolicy/eval`, {
        method: 'POST',
        body: JSON.stringify({ input: { new: input } }),
        headers: { 'content-type': 'application/json' },
      })
      expect(answer.status).toBe(401)
      expect(await answer.text()).toContain('without a manual judgment before it')
      expect(service.logText()).toContain(`Next: cp -r ${join(packed.folder, 'policies')} policies`)
    } finally {
      expect(await service.end('SIGTERM')).toBe(0)
    }
  }, 60_000)

  it('lists its components with licences, and the licence texts of bundled ones', () => {
    const { components } = BILL.parse(JSON.parse(read('dist/sbom.cdx.json')))
    const names = components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['better-sqlite3', 'hono', 'zod', 'undici']))
    expect(names).not.toContain('vitest')
    expect(new Set(components.map((component) => component['bom-ref'])).size).toBe(components.length)
    const texts = read('dist/THIRD-PARTY-LICENSES.txt')
    const bundled = components.filter(({ properties: [{ value }] }) => value === 'true')
    expect(bundled.filter(({ name, version }) => !texts.includes(`${name} ${version} (`))).toEqual([])
  })
})
