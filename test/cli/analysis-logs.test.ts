import { afterAll, describe, expect, it } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

/** Half an hour of requests, with failures of the canary in minute 12. */
function logOf(failures: number): string {
  const line = (second: number, text: string): string =>
    `2026-03-01T10:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z ${text}`
  const served = Array.from({ length: 900 }, (_, n) => line(2 * n, `INFO request ${n} served`))
  const failed = Array.from({ length: failures }, (_, n) => line(720 + n, `ERROR order ${n} not stored`))
  return [...served, ...failed].toSorted().join('\n')
}

const workspace = makeWorkspace({
  'stable.log': logOf(0),
  'canary.log': logOf(15),
  'same.log': logOf(0),
  'stopped.log': logOf(0).split('\n').slice(0, 300).join('\n'),
  'plain.log': Array.from({ length: 60 }, (_, n) => `INFO request ${n} served`).join('\n'),
})

afterAll(workspace.remove)

const judged = (...args: string[]) => runTidegate(['analysis', 'logs', ...args], { cwd: workspace.path })

describe('two log files', () => {
  it('pass if nothing is new', async () => {
    const { exitCode, stdout } = await judged('stable.log', 'same.log')
    expect(stdout).toContain('log: Success with 100 of 100, No error is new or more frequent')
    expect(exitCode).toBe(0)
  })

  it('need a review for new errors in one minute, and list them', async () => {
    const { exitCode, stdout } = await judged('stable.log', 'canary.log')
    expect(stdout).toContain('log: Review')
    expect(stdout).toMatch(/error +new +0 +15/)
    expect(exitCode).toBe(1)
  })

  it('need a review if the log of the canary stops while the baseline continues', async () => {
    const { exitCode, stdout } = await judged('stable.log', 'stopped.log')
    expect(stdout).toContain('log: Review')
    expect(stdout).toMatch(/logged nothing|logs nothing|silent/)
    expect(exitCode).toBe(1)
  })

  it('are judged without times too, and as JSON', async () => {
    const { stdout } = await judged('plain.log', 'plain.log', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'Success', state: 'compared' })
  })

  it('must be there', async () => {
    const { exitCode, stderr } = await judged('stable.log', 'none.log')
    expect(stderr).toContain('none.log')
    expect(exitCode).toBe(2)
  })
})
