import { databaseUrl } from '../postgres/store-section.js'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { PROGRAM } from '../project-root.js'
import { runTidegate } from '../run-tidegate.js'
import type { TidegateProcess } from '../tidegate-process.js'

const OLDER_SHARE = 0.5
/** The error of an older build for a database that it may no longer write. */
const TOO_NEW = 'migrated by a newer release'

/** How often the older build was started, and how often the database was too new for it. */
export interface OlderStarts {
  started: number
  refused: number
}

/** Programs of which services over one database are started. */
export interface TwoBuilds {
  readonly older: OlderStarts
  /** The first service uses the older build if there is one, later ones a random build. */
  readonly start: (
    isFirst: boolean,
    startProgram: (program: string) => Promise<TidegateProcess>,
  ) => Promise<TidegateProcess>
  /** Problems of the trail found by either build, one sentence each. */
  readonly trailProblems: (settings: PostgresSettings) => Promise<string[]>
}

/** This build alone, or together with an older one. */
export function twoBuilds(old: string | undefined, random: () => number): TwoBuilds {
  const older: OlderStarts = { started: 0, refused: 0 }
  return {
    older,
    start: async (isFirst, startProgram) => {
      if (old === undefined || !(isFirst || random() < OLDER_SHARE)) return await startProgram(PROGRAM)
      try {
        const service = await startProgram(old)
        older.started += 1
        return service
      } catch (raw) {
        if (!String(raw).includes(TOO_NEW)) throw raw
        older.refused += 1
        return await startProgram(PROGRAM)
      }
    },
    trailProblems: async (settings) => {
      const programs = old === undefined ? [PROGRAM] : [PROGRAM, old]
      const problems = await Promise.all(programs.map((program) => trailProblem(program, settings)))
      return problems.flat()
    },
  }
}

async function trailProblem(program: string, settings: PostgresSettings): Promise<string[]> {
  const { exitCode, stdout, stderr } = await runTidegate(
    ['audit', 'verify', '--store', databaseUrl(settings)],
    { program, env: { PGPASSWORD: settings.password ?? '' } },
  )
  return exitCode === 0 ? [] : [`audit verify of ${program}: ${stdout}${stderr}`]
}
