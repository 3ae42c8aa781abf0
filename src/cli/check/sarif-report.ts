import { isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

import { packageVersion } from '../../lib/package-root.js'
import { escapeControls } from '../../lib/text/shown-text.js'
import { STDIN } from '../input/read-document.js'
import type { Problem } from './check-report.js'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
/** Rule of files and documents that cannot be checked. */
const NOT_CHECKED = 'tidegate.not_checked'

/** Returns a SARIF 2.1.0 log with a rule for each package that denies or warns. */
export function sarifReport(problems: readonly Problem[]): string {
  const ids = [...new Set(problems.map(ruleOf))].sort()
  const denying = new Set(problems.filter(({ level }) => level === 'error').map(ruleOf))
  const indexes = new Map(ids.map((id, index) => [id, index]))
  const log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'tidegate',
            version: packageVersion(),
            rules: ids.map((id) => rule(id, denying.has(id))),
          },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: problems.every((problem) => problem.package !== undefined) }],
        results: problems.map((problem) => ({
          ruleId: ruleOf(problem),
          ruleIndex: indexes.get(ruleOf(problem)),
          level: problem.level,
          message: { text: messageOf(problem) },
          locations: locationsOf(problem),
        })),
      },
    ],
  }
  return `${escapeControls(JSON.stringify(log, null, 2))}\n`
}

function ruleOf(problem: Problem): string {
  return problem.package ?? NOT_CHECKED
}

function rule(id: string, denies: boolean): object {
  const verb = denies ? 'denies' : 'warns about'
  const text =
    id === NOT_CHECKED ? 'The pipeline cannot be checked.' : `The policy ${id} ${verb} the pipeline.`
  return { id, shortDescription: { text }, defaultConfiguration: { level: denies ? 'error' : 'warning' } }
}

function messageOf({ name, text }: Problem): string {
  return name === undefined ? text : `${name}: ${text}`
}

function locationsOf({ file, position }: Problem): object[] {
  if (file === STDIN) return []
  const region =
    position === undefined ? {} : { region: { startLine: position.line, startColumn: position.column } }
  return [{ physicalLocation: { artifactLocation: { uri: toUri(file) }, ...region } }]
}

/** Returns a reference relative to the working directory, or a `file:` URL outside of it. */
function toUri(file: string): string {
  const path = relative('', file)
  if (path.split(sep)[0] === '..' || isAbsolute(path)) return pathToFileURL(file).href
  return path.toWellFormed().split(sep).map(encodeURIComponent).join('/')
}
