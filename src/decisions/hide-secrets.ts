import { goJsonString } from '../lib/json/text/escape.js'

/**
 * Removes secrets from a text; null if that is impossible. `isCut` says that the end of the text
 * is missing.
 */
export type HideSecrets = (text: string, isCut: boolean) => string | null

/** Shorter texts occur in too many others: replacing them would reveal more than it hides. */
const MIN_LENGTH = 4
/** Above this number, a text is dropped instead of searched. */
const MAX_SECRETS = 200
const MASKED = '[masked]'

/**
 * Makes a function that hides the texts and numbers of the masked `values` (JSON) in texts that
 * quote them, plain or within JSON.
 */
export function makeHideSecrets(values: readonly string[]): HideSecrets {
  const secrets = new Set(values.flatMap((value) => scalarTexts(value)))
  if (secrets.size === 0) return (text) => text
  if (secrets.size > MAX_SECRETS) return () => null
  // Longest first, since it may contain a shorter one.
  const forms = [...new Set([...secrets].flatMap(writtenForms))].sort((a, b) => b.length - a.length)
  const longest = forms[0]?.length ?? 0
  return (text, isCut) => {
    const hidden = forms.reduce((rest, form) => rest.replaceAll(form, MASKED), text)
    // The cut may split a secret and leave its beginning.
    return isCut ? hidden.slice(0, -longest) : hidden
  }
}

/** Texts and numbers in a value that are long enough to be searched for. */
function scalarTexts(json: string): string[] {
  // As written, too: numbers of more than 17 digits change when they are parsed.
  const texts = (json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? []).filter(
    (text) => !text.startsWith('"'),
  )
  const rest = [JSON.parse(json) as unknown]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next === 'object' && next !== null) for (const item of Object.values(next)) rest.push(item)
    else if (typeof next === 'string' || typeof next === 'number') texts.push(String(next))
  }
  return texts.filter((text) => text.length >= MIN_LENGTH)
}

function writtenForms(text: string): string[] {
  return [text, JSON.stringify(text).slice(1, -1), goJsonString(text).slice(1, -1)]
}
