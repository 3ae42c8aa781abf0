import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { runProgram } from '../support/find-program.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

/** What `make site` runs, into a folder of its own. */
const GENERATOR = join(PROJECT_ROOT, 'build/site/run.js')
const workspace = makeWorkspace()
const site = join(workspace.path, 'site')
const read = (page: string): string => readFileSync(join(site, page), 'utf8')
const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

function build(...args: readonly string[]) {
  return runProgram(process.execPath, [GENERATOR, ...args], PROJECT_ROOT)
}

/** The project's pages, and what they link to, to be changed. */
function copyOfPages(name: string): string {
  const copy = join(workspace.path, name)
  for (const part of [
    'docs',
    'policies',
    'build',
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'test/support/demo',
  ])
    cpSync(join(PROJECT_ROOT, part), join(copy, part), { recursive: true })
  return copy
}

let built: { readonly succeeded: boolean; readonly output: string }
beforeAll(() => {
  built = build(site)
})
afterAll(workspace.remove)

describe('the documentation as a site', () => {
  test('is built of all pages, and every link and anchor leads somewhere', () => {
    expect(built).toEqual({ succeeded: true, output: built.output })
    const pages = readdirSync(join(PROJECT_ROOT, 'docs')).filter((file) => file.endsWith('.md'))
    for (const page of pages) expect(read(page.replace('.md', '.html'))).toContain('<h1 id=')
  })

  test('is refused when links to pages, anchors or pictures lead nowhere, each by its name', () => {
    const copy = copyOfPages('broken-links')
    const page = join(copy, 'docs/reference/gates.md')
    const text =
      'See [a](no-such-page.md), [b](audit.md#no-such-part), [c](#no-such-part), ![d](demo/none.png).'
    writeFileSync(page, `${readFileSync(page, 'utf8')}\n${text}\n`)
    const { succeeded, output } = build(join(workspace.path, 'broken'), copy)
    expect([succeeded, output.split('\n').sort()]).toEqual([
      false,
      [
        '',
        'broken link: gates.html -> #no-such-part',
        'broken link: gates.html -> audit.html#no-such-part',
        'broken link: gates.html -> demo/none.png',
        'broken link: gates.html -> files-docs-no-such-page.md.html',
      ],
    ])
  })

  test('is refused when a page stands in no menu', () => {
    const copy = copyOfPages('unlisted')
    writeFileSync(join(copy, 'docs/new.md'), '# New\n')
    expect(build(join(workspace.path, 'broken'), copy).output).toContain('docs/new.md')
  })

  test('tells every command and every flag of the program', async () => {
    const reference = textOf(read('cli-reference.html'))
    const { stdout } = await runTidegate(['completion', 'bash'])
    const flags = new Set([...stdout.matchAll(/(?<=[\s"'])--[a-z][a-z-]+/g)].map(([flag]) => flag))
    flags.delete('--help')
    flags.delete('--version')
    expect(flags.size).toBeGreaterThan(40)
    expect([...flags].filter((flag) => !reference.includes(flag))).toEqual([])
  })

  test('tells every route of the API with its roles', async () => {
    const reference = textOf(read('api-reference.html'))
    const { stdout } = await runTidegate(['openapi'])
    const { paths } = JSON.parse(stdout) as { paths: Record<string, Record<string, unknown>> }
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}\n`),
    )
    expect(routes.length).toBeGreaterThan(100)
    expect(routes.filter((route) => !reference.includes(route))).toEqual([])
  })

  test('can be searched by what its pages say', () => {
    const sections = JSON.parse(read('search-index.js').replace('window.sections = ', '')) as string[][]
    const found = sections
      .filter(([, , , text = '']) => text.includes('openToOrchestrator'))
      .map(([url]) => url)
    expect(found).toContain('orchestrator.html#tokens')
  })
})
