import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { runProgram } from '../support/find-program.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const BUILD_TIMEOUT_MS = 240_000
/** The program of `make site`. */
const GENERATOR = join(PROJECT_ROOT, 'build/site/run.js')
const workspace = makeWorkspace()
const site = join(workspace.path, 'site')
const read = (page: string): string => readFileSync(join(site, page), 'utf8')

function build(...args: readonly string[]) {
  return runProgram(process.execPath, [GENERATOR, ...args], PROJECT_ROOT)
}

function pagesIn(folder: string): string[] {
  return readdirSync(join(PROJECT_ROOT, 'docs', folder)).filter((file) => file.endsWith('.md'))
}

let built: { readonly succeeded: boolean; readonly output: string }
beforeAll(() => {
  built = build(site)
}, BUILD_TIMEOUT_MS)
afterAll(workspace.remove)

describe('the site', () => {
  test('has every page, and no link or anchor is dead', () => {
    expect(built).toEqual({ succeeded: true, output: built.output })
    for (const folder of ['tutorials', 'guides', 'reference', 'explanation'])
      for (const page of pagesIn(folder))
        expect(read(`${folder}/${page.replace('.md', '.html')}`)).toContain('<h1 id=')
  })

  test('lists every page in its menu', () => {
    const menu = read('index.html')
    const missing = pagesIn('guides').filter((page) => !menu.includes(`/guides/${page.replace('.md', '')}`))
    expect(missing).toEqual([])
  })

  test('shows files that pages link to', () => {
    expect(read('files/docs/examples/jenkins/Jenkinsfile.txt')).toContain('pipeline {')
  })

  test('finds the contents of pages in its search', () => {
    const assets = readdirSync(join(site, 'assets'), { recursive: true, encoding: 'utf8' })
    const index = assets.find((file) => file.includes('localSearchIndex')) ?? ''
    expect(read(join('assets', index))).toContain('opentoorchestrator')
  })

  test(
    'is not built while a link leads to no page',
    () => {
      const copy = join(workspace.path, 'copy')
      for (const part of ['docs', 'policies', 'build', 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'])
        cpSync(join(PROJECT_ROOT, part), join(copy, part), { recursive: true })
      cpSync(join(PROJECT_ROOT, 'test/support/demo'), join(copy, 'test/support/demo'), { recursive: true })
      const page = join(copy, 'docs/reference/gates.md')
      writeFileSync(page, `${readFileSync(page, 'utf8')}\nSee [a](no-such-page.md).\n`)
      const { succeeded, output } = build(join(workspace.path, 'refused'), copy)
      expect(succeeded).toBe(false)
      expect(output).toContain('dead link in docs/reference/gates.md: no-such-page.md')
    },
    BUILD_TIMEOUT_MS,
  )
})

test('dead anchors and images of built pages are reported', () => {
  const folder = join(workspace.path, 'pages')
  mkdirSync(folder)
  writeFileSync(join(folder, 'b.html'), '<h1 id="part">b</h1>')
  writeFileSync(
    join(folder, 'a.html'),
    '<a href="/b.html#part"></a><a href="/b.html#none"></a><a href="#none"></a><img src="/none.png">',
  )
  const script = `
    import { brokenLinks } from ${JSON.stringify(join(PROJECT_ROOT, 'build/site/broken-links.js'))}
    process.stdout.write(brokenLinks(${JSON.stringify(folder)}).join('\\n'))`
  const { output } = runProgram(process.execPath, ['--input-type=module', '--eval', script], PROJECT_ROOT)
  expect(output.split('\n').sort()).toEqual([
    'a.html -> #none',
    'a.html -> /b.html#none',
    'a.html -> /none.png',
  ])
})

describe('the generated references', () => {
  const folder = join(workspace.path, 'references')
  beforeAll(() => {
    runProgram(process.execPath, [join(PROJECT_ROOT, 'build/docs/write-references.js'), folder], PROJECT_ROOT)
  }, BUILD_TIMEOUT_MS)

  test.each(['commands.md', 'operations.md', 'routes.md', 'configuration.md'])(
    '%s is current (npm run docs:reference writes it)',
    (page) => {
      const committed = readFileSync(join(PROJECT_ROOT, 'docs/reference', page), 'utf8')
      expect(readFileSync(join(folder, page), 'utf8')).toBe(committed)
    },
  )

  test('have every flag and every route', async () => {
    const commands = readFileSync(join(folder, 'commands.md'), 'utf8')
    const { stdout } = await runTidegate(['completion', 'bash'])
    const flags = new Set([...stdout.matchAll(/(?<=[\s"'])--[a-z][a-z-]+/g)].map(([flag]) => flag))
    flags.delete('--help')
    flags.delete('--version')
    expect(flags.size).toBeGreaterThan(40)
    expect([...flags].filter((flag) => !commands.includes(flag))).toEqual([])
    const operations = readFileSync(join(folder, 'operations.md'), 'utf8')
    const { paths } = JSON.parse((await runTidegate(['openapi'])).stdout) as {
      paths: Record<string, Record<string, unknown>>
    }
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `### ${method.toUpperCase()} \`${path}\`\n`),
    )
    expect(routes.length).toBeGreaterThan(100)
    expect(routes.filter((route) => !operations.includes(route))).toEqual([])
  })
})
