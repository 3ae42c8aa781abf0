import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { findDecision } from '../../src/decisions/query-decisions.js'
import { openDecisionLog } from '../../src/main/open-decision-log.js'
import { renameDamaged } from '../../src/store/sqlite/engine/kept-files.js'
import { damageDatabase } from '../support/damage-database.js'
import { anEntry, openWriter, temporaryFolder } from '../support/decisions.js'
import { waitUntil } from '../support/wait-until.js'

async function open(dataDir = join(temporaryFolder(), 'data')) {
  const notices: string[] = []
  const opened = await openDecisionLog({
    dataDir,
    openWriter,
    onRenewed: (notice) => notices.push(notice),
  })
  onTestFinished(() => opened.close())
  const record = async (decisionId: string): Promise<void> => {
    opened.log.record(anEntry({ decisionId }))
    await opened.log.flush()
  }
  return { ...opened, record, dataDir, notices, path: join(dataDir, 'decisions.db') }
}

/** Passes the pauses between attempts until a new file is created. */
async function untilRenewed({ timesRenewed, problem }: Awaited<ReturnType<typeof open>>): Promise<void> {
  await waitUntil(
    () => {
      vi.advanceTimersByTime(1000)
      return timesRenewed() === 1 ? true : undefined
    },
    () => `no new file is created: ${problem() ?? 'no problem is reported'}`,
  )
}

function fakePauses(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

const damagedFiles = (dataDir: string): string[] =>
  readdirSync(dataDir).filter((name) => /^decisions\.db\.damaged-[\dTZ-]+$/.test(name))

describe('a decision log whose file goes wrong while it is open', () => {
  it.each<readonly [string, (path: string) => void]>([
    ['deleted', (path) => rmSync(path)],
    ['moved away', (path) => renameSync(path, `${path}.away`)],
    [
      'replaced by a copy',
      (path) => {
        copyFileSync(path, `${path}.copy`)
        renameSync(`${path}.copy`, path)
      },
    ],
    ['overwritten', (path) => writeFileSync(path, 'x'.repeat(70_000))],
    ['emptied', (path) => writeFileSync(path, '')],
  ])('is replaced when it was %s, and counts and reports lost decisions', async (_, harm) => {
    const opened = await open()
    await opened.record('before')
    harm(opened.path)
    await waitUntil(
      () => (opened.timesRenewed() === 1 ? true : undefined),
      () => `it is not begun anew: ${opened.problem() ?? 'it says that all is well'}`,
    )
    await opened.record('after')
    expect(await findDecision(opened, 'after')).toMatchObject({ path: 'deploy/allow' })
    const { written, dropped } = opened.log.stats()
    expect({ written, lost: dropped.write_failed }).toEqual({ written: 2, lost: 0 })
    expect(opened.problem()).toBeUndefined()
    expect(opened.notice()).toMatch(/^decisions\.db .*: decisions now go to a new decisions\.db/)
    expect(opened.notices).toHaveLength(1)
  })

  it('loses and counts a batch that finds the file gone, and writes the next one to another', async () => {
    const opened = await open()
    rmSync(opened.path)
    await opened.record('lost')
    await opened.record('after')
    const { written, dropped } = opened.log.stats()
    expect({ written, lost: dropped.write_failed }).toEqual({ written: 1, lost: 1 })
  })

  it('renames the damaged file, and reports it until it is moved away', async () => {
    const opened = await open()
    await opened.record('before')
    writeFileSync(opened.path, 'x'.repeat(70_000))
    await waitUntil(
      () => damagedFiles(opened.dataDir).at(0),
      () => 'nothing is renamed',
    )
    await opened.record('after')
    const [damaged = ''] = damagedFiles(opened.dataDir)
    expect(readFileSync(join(opened.dataDir, damaged), 'latin1')).toContain('xxxx')
    expect(opened.problem()).toBeUndefined()
    expect(opened.notice()).toContain(damaged)
    rmSync(join(opened.dataDir, damaged))
    expect(opened.notice()).toBeUndefined()
  })

  it('starts two new logs immediately and further ones after pauses, because each leaves a file behind', async () => {
    const opened = await open()
    for (const [times, id] of ['first', 'second'].entries()) {
      rmSync(opened.path)
      await opened.record(id)
      await opened.record('after')
      expect(opened.timesRenewed()).toBe(times + 1)
    }
    rmSync(opened.path)
    for (const id of ['third', 'fourth', 'fifth']) await opened.record(id)
    expect(existsSync(opened.path)).toBe(false)
    expect(opened.timesRenewed()).toBe(2)
    expect(opened.problem()).toMatch(/^decisions\.db/)
    expect(opened.log.stats()).toMatchObject({ written: 2, dropped: { write_failed: 5 } })
  })

  it('does not recreate its directory, and continues when it is back', async () => {
    fakePauses()
    const opened = await open()
    renameSync(opened.dataDir, `${opened.dataDir}.away`)
    await opened.record('lost')
    await opened.record('lost too')
    expect(() => readdirSync(opened.dataDir)).toThrow('ENOENT')
    expect(opened.problem()).toMatch(/a new file cannot be created.*directory/)
    renameSync(`${opened.dataDir}.away`, opened.dataDir)
    await untilRenewed(opened)
    await opened.record('after')
    expect(opened.log.stats()).toMatchObject({ written: 1, dropped: { write_failed: 2 } })
  })
})

describe('a decision log whose directory takes no other file', () => {
  /**
   * A directory in place of the file that a new database is built in: to write there fails for root
   * as well.
   */
  const block = (path: string): string => {
    const draft = `${path}.${process.pid}.new`
    mkdirSync(draft)
    return draft
  }

  it('counts lost decisions, reports why nothing is written, and recovers by itself', async () => {
    fakePauses()
    const opened = await open()
    await opened.record('before')
    const draft = block(opened.path)
    rmSync(opened.path)
    for (const id of ['lost', 'lost too', 'lost as well']) await opened.record(id)
    expect(opened.log.stats()).toMatchObject({ written: 1, bufferedRows: 0, dropped: { write_failed: 3 } })
    expect(opened.problem()).toMatch(/^decisions\.db .*; a new file cannot be created: /)
    await expect(findDecision(opened, 'before')).rejects.toMatchObject({ kind: 'unavailable' })
    expect(opened.notice()).toBeUndefined()
    rmSync(draft, { recursive: true })
    await untilRenewed(opened)
    await opened.record('after')
    expect(opened.log.stats()).toMatchObject({ written: 2, dropped: { write_failed: 3 } })
    expect(opened.problem()).toBeUndefined()
  })

  it('closes while no new log can be started', async () => {
    const opened = await open()
    block(opened.path)
    rmSync(opened.path)
    await opened.record('lost')
    await opened.close()
    expect(opened.timesRenewed()).toBe(0)
  })

  it('loses only its own decisions when a file replaces the directory', async () => {
    fakePauses()
    const opened = await open()
    renameSync(opened.dataDir, `${opened.dataDir}.away`)
    writeFileSync(opened.dataDir, 'no directory')
    await opened.record('lost')
    await opened.record('lost too')
    expect(opened.log.stats()).toMatchObject({ written: 0, dropped: { write_failed: 2 } })
    expect(opened.problem()).toMatch(/a new file cannot be created/)
    expect(readFileSync(opened.dataDir, 'utf8')).toBe('no directory')
    rmSync(opened.dataDir)
    renameSync(`${opened.dataDir}.away`, opened.dataDir)
    await untilRenewed(opened)
  })
})

describe('what is renamed', () => {
  it('replaces nothing that was renamed before, though the clock was set back to that very time', () => {
    const path = join(temporaryFolder(), 'decisions.db')
    const damaged = ['first', 'second'].map((content) => {
      writeFileSync(path, content)
      return renameDamaged(path, 1_700_000_000_000)
    })
    expect(damaged.map((name) => readFileSync(name, 'utf8'))).toEqual(['first', 'second'])
  })
})

describe('a decision log whose file is damaged when it is opened', () => {
  it.each<readonly [string, (path: string) => void]>([
    ['is no database', (path) => writeFileSync(path, 'x'.repeat(70_000))],
    ['is empty', (path) => writeFileSync(path, '')],
    [
      'is a directory',
      (path) => {
        rmSync(path)
        mkdirSync(path)
      },
    ],
    ['has a damaged schema', (path) => damageDatabase(path, 'kysely_migration')],
  ])('is replaced when it %s', async (_, harm) => {
    const first = await open()
    await first.record('before')
    await first.close()
    harm(first.path)
    const opened = await open(first.dataDir)
    await opened.record('after')
    expect(opened.log.stats()).toMatchObject({ written: 1 })
    expect(damagedFiles(opened.dataDir)).toHaveLength(1)
    expect(opened.notice()).toMatch(/decisions\.db was damaged.*renamed to/)
  })

  it('is replaced by the first write that detects the damage', async () => {
    const first = await open()
    await first.record('before')
    await first.close()
    damageDatabase(first.path, 'decisions')
    const opened = await open(first.dataDir)
    await opened.record('lost')
    await opened.record('after')
    const { written, dropped } = opened.log.stats()
    expect({ written, lost: dropped.write_failed }).toEqual({ written: 1, lost: 1 })
    expect(damagedFiles(opened.dataDir)).toHaveLength(1)
  })
})
