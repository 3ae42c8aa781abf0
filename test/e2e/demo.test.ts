import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { findProgram, runProgram } from '../support/find-program.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { makeWorkspace } from '../support/workspace.js'

/** The story takes one minute, more where the machine is busy. */
const PATIENCE_MS = 240_000
const CHROMIUM = findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome')
/** Where to leave the pictures of docs/guides/demo.md. */
const SHOTS = process.env['DEMO_SHOTS']

const workspace = makeWorkspace()
beforeAll(() => {
  const built = runProgram('npm', ['run', '--silent', 'build:demo'], PROJECT_ROOT)
  expect(built).toEqual({ succeeded: true, output: built.output })
})
afterAll(workspace.remove)

interface Demo {
  /** Waits for this output and returns the captured groups. */
  readonly prints: (pattern: RegExp) => Promise<string>
  readonly output: () => string
  readonly exitCode: () => Promise<number | null>
  /** As Ctrl-C does: to all processes of the terminal. */
  readonly interrupt: () => void
  /** The folder of its files. */
  readonly folder: string
}

function startDemo(name: string, args: readonly string[]): Demo {
  const folder = join(workspace.path, name)
  mkdirSync(folder)
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'dist-bench/demo.js'), ...args], {
    detached: true,
    env: { ...process.env, TMPDIR: folder },
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    folder,
    output: () => text,
    exitCode: () => ended,
    interrupt: () => process.kill(-(child.pid ?? 0), 'SIGINT'),
    prints: async (pattern) => {
      const deadline = performance.now() + PATIENCE_MS
      for (;;) {
        const found = pattern.exec(text)
        if (found !== null) return found[1] ?? ''
        if (child.exitCode !== null || performance.now() > deadline)
          throw new Error(`the demo never printed ${String(pattern)}: ${text}`)
        await setTimeout(50)
      }
    },
  }
}

/** The remains of a demo: files, processes that use its folder, and listening ports. */
async function leftBy({ folder, output }: Demo): Promise<string[]> {
  const processes = existsSync('/proc') ? readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)) : []
  const named = processes.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })
  const ports = new Set(
    [...output().matchAll(/http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port)),
  )
  expect(ports.size).toBeGreaterThanOrEqual(3)
  const open: string[] = []
  for (const port of ports) if (await isOpen(port)) open.push(`port ${port}`)
  return [...readdirSync(folder), ...named, ...open]
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

describe.concurrent('the demo', () => {
  test(
    'shows a refusal, a stop, a gate, a bad canary and the trail, by itself and without Prometheus',
    async () => {
      const demo = startDemo('once', ['--once', '--small-prometheus'])
      const code = await demo.exitCode()
      expect(demo.output()).toMatch(
        /refused: stage 'Deploy canary' deploys to production account 'prod-eu' without/,
      )
      expect(demo.output()).toMatch(
        /stopped: image 'docker\.io\/somebody\/shop:1\.5\.0' .* is not from a trusted registry/,
      )
      expect(demo.output()).toContain('approved: looks good in staging')
      expect(demo.output()).toMatch(/Fail, score \d+: Critical: failed requests is High/)
      expect(demo.output()).toMatch(/gate\.approved +Approve release +approved +ana/)
      expect(demo.output()).toMatch(/intact: \d+ records checked/)
      expect([code, await leftBy(demo)]).toEqual([0, []])
    },
    PATIENCE_MS,
  )

  test(
    'ends by Ctrl-C while a gate waits, and leaves nothing behind',
    async () => {
      const demo = startDemo('interrupted', [])
      await demo.prints(/open +(http\S+)/)
      demo.interrupt()
      expect([await demo.exitCode(), await leftBy(demo)]).toEqual([0, []])
    },
    PATIENCE_MS,
  )

  test.skipIf(CHROMIUM === undefined)(
    'goes on when a visitor approves in the browser',
    async () => {
      const demo = startDemo('visited', [])
      const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
      try {
        await visit(demo, browser)
      } finally {
        await browser.close()
        demo.interrupt()
      }
      expect([await demo.exitCode(), await leftBy(demo)]).toEqual([0, []])
    },
    PATIENCE_MS,
  )
})

async function visit(demo: Demo, browser: Browser): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 900, height: 620 }, colorScheme: 'light' })
  const page = await context.newPage()
  const approval = await demo.prints(/open +(http\S+)/)
  const token = await demo.prints(/with the token (\S+)\n/)
  await page.goto(approval)
  await page.fill('#token', token)
  await page.press('#token', 'Enter')
  await page.waitForSelector('h1:has-text("Approve release")')
  await page.fill('#comment', 'the staging figures look good')
  await shoot(page, 'gate')
  await page.click('button[value="approve"]')
  const report = await demo.prints(/report +(http\S+)/)
  const orchestrator = await demo.prints(/orchestrator +(http\S+)/)
  await page.goto(orchestrator)
  expect(await page.textContent('body')).toContain('approved: the staging figures look good')
  await demo.prints(/That is all/)
  await page.goto(orchestrator)
  expect(await page.textContent('body')).toContain('TERMINAL')
  await shoot(page, 'orchestrator')
  await page.goto(report)
  expect(await page.textContent('body')).toContain('failed requests')
  await shoot(page, 'report')
  await page.goto(approval)
  expect(await page.textContent('main')).toContain('analysis.completed')
  await page.locator('h2:has-text("in the order of time")').scrollIntoViewIfNeeded()
  await page.mouse.wheel(0, 400)
  await shoot(page, 'trail')
}

/** A screenshot. */
async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`) })
}
