import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test, vi } from 'vitest'

import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import { DEFAULT_OPA_LIMITS } from '../../../src/rego/opa/opa-limits.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { makeWorkspace } from '../../support/workspace.js'
import { PATIENT } from '../../support/wait-until.js'

const MIB = 1024 * 1024
/** Starts a second process of the same group, writes its number and waits for it. */
const WITH_CHILD = '#!/bin/sh\nsleep 600 & echo $! > child\nwait\n'
const GREEDY =
  '#!/bin/sh\nexec node -e "const kept = []; setInterval(() => kept.push(Buffer.alloc(8e6, 1)), 1)"\n'

function program(
  script: string,
  limits: Partial<typeof DEFAULT_OPA_LIMITS> = {},
): OpaProgram & { cwd: string } {
  const { path: cwd, remove } = makeWorkspace({ opa: script })
  onTestFinished(remove)
  chmodSync(join(cwd, 'opa'), 0o755)
  return { path: join(cwd, 'opa'), source: 'PATH', limits: { ...DEFAULT_OPA_LIMITS, ...limits }, cwd }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

const ended = (pid: number): Promise<void> => vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENT)

async function childOf(cwd: string): Promise<number> {
  const file = join(cwd, 'child')
  return await vi.waitFor(() => {
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
    expect(pid).toBeGreaterThan(0)
    return pid
  }, PATIENT)
}

describe.skipIf(process.platform !== 'linux')('a run of opa', () => {
  test('that takes too long ends with all that it has started', async () => {
    const { cwd, ...opa } = program(WITH_CHILD, { timeMs: 1000 })
    await expect(runOpa(opa, ['build'], { cwd })).rejects.toMatchObject({
      code: 'opa_takes_too_long',
      message: expect.stringContaining('raise policies.compiler.timeoutSeconds') as string,
    })
    await ended(await childOf(cwd))
  })

  test('that takes too much memory is ended', async () => {
    const { cwd, ...opa } = program(GREEDY, { memoryBytes: 256 * MIB })
    await expect(runOpa(opa, ['build'], { cwd })).rejects.toMatchObject({
      code: 'opa_takes_too_much_memory',
      message: expect.stringContaining('raise policies.compiler.maxMemoryBytes') as string,
    })
  })

  test('that is given up ends with all that it has started', async () => {
    const { cwd, ...opa } = program(WITH_CHILD)
    const given = new AbortController()
    const run = runOpa(opa, ['build'], { cwd, signal: given.signal })
    const child = await childOf(cwd)
    given.abort()
    await expect(run).rejects.toMatchObject({ kind: 'unavailable' })
    await ended(child)
  })

  test('is given the cores and the memory that it may use', async () => {
    const { cwd, ...opa } = program('#!/bin/sh\necho $GOMAXPROCS $GOMEMLIMIT\n', {
      cores: 3,
      memoryBytes: 1000 * MIB,
    })
    expect((await runOpa(opa, [], { cwd })).stdout).toBe('3 900MiB\n')
  })

  test('ends when the process that started it is killed', async () => {
    const { cwd, path } = program(WITH_CHILD)
    const module = new URL('../../../src/rego/opa/process-group.ts', import.meta.url).pathname
    const code = `
      import { spawn } from 'node:child_process'
      import { guardGroup } from ${JSON.stringify(module)}
      const release = guardGroup(spawn('true', { detached: true }).pid)
      const opa = spawn(${JSON.stringify(path)}, { cwd: ${JSON.stringify(cwd)}, detached: true })
      guardGroup(opa.pid)
      release()
      process.stdout.write('guarded')`
    const service = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => service.stdout.once('data', resolve))
    const child = await childOf(cwd)
    service.kill('SIGKILL')
    await ended(child)
  })
})
