import { goJsonString } from '../lib/json/text/escape.js'

/** A text without the secrets in it; null when it cannot be had. `isCut` says that its end is missing. */
export type HideSecrets = (text: string, isCut: boolean) => string | null

/** Shorter texts stand in too many others: replacing them would tell more than it hides. */
const MIN_LENGTH = 4
/** With more of them than this, a text is rather left out than searched for each. */
const MAX_SECRETS = 200
const MASKED = '[masked]'

/** Hides every text and number of the masked `values` (JSON) in texts that may quote them, as they are or inside JSON. */
export function makeHideSecrets(values: readonly string[]): HideSecrets {
  const secrets = new Set(values.flatMap((value) => scalarTexts(JSON.parse(value) as unknown)))
  if (secrets.size === 0) return (text) => text
  if (secrets.size > MAX_SECRETS) return () => null
  // The longest first: it may contain a shorter one.
  const forms = [...new Set([...secrets].flatMap(writtenForms))].sort((a, b) => b.length - a.length)
  const longest = forms[0]?.length ?? 0
  return (text, isCut) => {
    const hidden = forms.reduce((rest, form) => rest.replaceAll(form, MASKED), text)
    // The cut may go through a secret, whose first part is then left at the end.
    return isCut ? hidden.slice(0, -longest) : hidden
  }
}

/** The texts and numbers in a value that are long enough to be told from others. */
function scalarTexts(value: unknown): string[] {
  const texts: string[] = []
  const rest = [value]
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
