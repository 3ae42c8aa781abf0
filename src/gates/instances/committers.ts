import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { Gate } from '../../store/ports/gate.js'
import { isRecord } from '../../lib/validation/record.js'
import { isSamePerson } from '../../lib/text/same-person.js'

/**
 * Returns the people who may not approve because they committed: nobody where the gate allows it,
 * undefined if they are unknown, also until the evidence is fetched.
 */
export function excludedCommitters(
  { committersMayApprove }: Pick<Gate, 'committersMayApprove'>,
  { work }: Pick<GateInstance, 'work'>,
  evidence: unknown,
  fromEvents: readonly string[] | undefined,
): readonly string[] | undefined {
  if (committersMayApprove !== false) return []
  return work === 'evidence' ? undefined : committersOf(evidence, fromEvents)
}

/**
 * Returns who committed to what an instance is about: authors in the evidence of repository hosts,
 * and committers that the events of the execution name. Undefined if one cannot be told from
 * approvers, because it is missing or a display name, or if there are none.
 */
export function committersOf(
  evidence: unknown,
  fromEvents: readonly string[] = [],
): readonly string[] | undefined {
  const items = Array.isArray(evidence) ? (evidence as unknown[]).filter(isRecord) : []
  const outputs = items.flatMap(({ output }) =>
    Array.isArray(output) ? (output as unknown[]).filter(isRecord) : [],
  )
  const authors = outputs
    .filter((output) => 'author' in output)
    .map(({ author, authorEmail }) => [author, authorEmail].filter((name) => typeof name === 'string'))
  const all = [...authors, ...fromEvents.map((name) => [name])]
  const isWhole = items.every(({ state, truncated }) => state === 'fetched' && truncated !== true)
  if (all.length === 0 || !isWhole) return undefined
  return all.every((names) => names.some(isComparable)) ? [...new Set(all.flat())] : undefined
}

/** An address or an account, since a display name can belong to any account. */
function isComparable(name: string): boolean {
  return name.includes('@') || (name !== '' && !/\s/.test(name))
}

/** Whether a person is one of the committers, by name, address, or the part before the `@`. */
export function isCommitter(person: string, committers: readonly string[]): boolean {
  const own = namesOf(person)
  return committers.flatMap(namesOf).some((name) => own.some((each) => isSamePerson(each, name)))
}

/**
 * `Ana <ana@example.org>` has the names `Ana`, `ana@example.org` and `ana`. A private address of
 * GitHub or GitLab (`123+ana@users.noreply.github.com`) also has the account.
 */
function namesOf(text: string): readonly string[] {
  const { name = '', address = '' } = /^(?<name>[^<]*)<(?<address>[^<>]*)>/.exec(text)?.groups ?? {}
  const whole = [text, name, address].map((part) => part.trim()).filter((part) => part !== '')
  const local = whole.filter((part) => part.includes('@')).map((part) => part.slice(0, part.indexOf('@')))
  const accounts = local.map((part) => part.replace(/^\d+[+-]/, ''))
  return [...whole, ...[...local, ...accounts].filter((part) => part !== '')]
}
