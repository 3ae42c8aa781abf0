import { TemplateTable } from '../../../src/canary/logs/grouping/template-table.js'

/** The template of each line, as id and text. */
export function clusterLines(lines: readonly string[], maxPatterns?: number): { id: number; text: string }[] {
  const table = new TemplateTable(maxPatterns)
  const rows = lines.map((line) => table.add(line))
  const { templates, idOfRow } = table.finish()
  return rows.map((row) => {
    const id = idOfRow[row]!
    return { id, text: templates[id - 1]!.text }
  })
}

/** How well lines are grouped. */
export interface GroupingQuality {
  /** The share of lines whose group holds exactly the lines of their true group (GA). */
  readonly accuracy: number
  /**
   * The accuracy by groups: the harmonic mean of the shares of found and of true groups that are
   * right (FGA).
   */
  readonly groupF1: number
  /**
   * The share of true groups that are found with a template of exactly the words that all their
   * lines share.
   */
  readonly templates: number
}

/** Compares the groups of lines with their true ones. */
export function groupingQuality(
  lines: readonly string[],
  found: readonly { readonly id: number; readonly text: string }[],
  truth: readonly string[],
): GroupingQuality {
  const foundGroups = membersOf(found.map(({ id }) => id))
  const trueGroups = membersOf(truth)
  const places = new Set([...foundGroups.values()].map((members) => members.join()))
  const right = [...trueGroups.values()].filter((members) => places.has(members.join()))
  const shown = right.filter((members) =>
    showsSharedWords(
      found[members[0] ?? 0]?.text ?? '',
      members.map((place) => lines[place] ?? ''),
    ),
  )
  return {
    accuracy: right.reduce((sum, members) => sum + members.length, 0) / truth.length,
    groupF1: (2 * right.length) / (foundGroups.size + trueGroups.size),
    templates: shown.length / trueGroups.size,
  }
}

/** The share of lines whose predicted group holds exactly the lines of their true group. */
export function groupingAccuracy(predicted: readonly number[], truth: readonly string[]): number {
  const found = predicted.map((id) => ({ id, text: '' }))
  return groupingQuality([], found, truth).accuracy
}

function membersOf(labels: readonly (number | string)[]): ReadonlyMap<number | string, number[]> {
  const members = new Map<number | string, number[]>()
  labels.forEach((label, place) => {
    const known = members.get(label)
    if (known === undefined) members.set(label, [place])
    else known.push(place)
  })
  return members
}

/**
 * Whether the template contains all words common to the lines, and every line contains the
 * template's parts in order.
 */
function showsSharedWords(template: string, lines: readonly string[]): boolean {
  const fixed = template.split('<*>').filter((part) => part !== '')
  const holds = (line: string): boolean => {
    let at = 0
    return fixed.every((part) => {
      at = line.indexOf(part, at)
      if (at < 0) return false
      at += part.length
      return true
    })
  }
  const wordsOf = (text: string): ReadonlySet<string> =>
    new Set(text.match(/(?<![\w/.@-])\p{L}{2,}(?![\w/.@-])/gu))
  const shared = lines
    .map(wordsOf)
    .reduce((common, words) => new Set([...common].filter((word) => words.has(word))))
  const shown = wordsOf(template)
  return (
    lines.map((line) => line.replaceAll(/\s+/g, ' ')).every(holds) &&
    [...shared].every((word) => shown.has(word) || isValueWord(word))
  )
}

/** Words that are values everywhere, as in the labels. */
function isValueWord(word: string): boolean {
  return /^(?:true|false|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|UTC|[kKMG]?B|bytes|ms|sec|seconds)$/i.test(
    word,
  )
}
