const HTML = /^\s*<(?:!doctype\s+html|html)\b/i
const XML = /^\s*<(?:\?xml\b|[a-z_])/i
const TITLE = /<title[^<>]*>([^<]{1,200})</i
/** The first element that is neither a declaration nor a comment. */
const ROOT = /<([a-z_][\w:.-]{0,100})/i
/**
 * Amazon, Azure and Google give an error a code and a message. Splunk has
 * messages, and SOAP has faults.
 */
const CODE = /<(?:\w+:)?Code[^<>]*>([^<]{1,200})</i
const MESSAGE = /<(?:\w+:)?(?:Message|msg|faultstring|Details)\b[^<>]*>([^<]{1,1000})</i
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

/** Whether a text with tags is a web page, and what it says. */
export interface Markup {
  readonly isPage: boolean
  /** As the end of a sentence. */
  readonly description: string
}

/** Describes HTML or XML in place of JSON. Undefined for any other text. */
export function describeMarkup(text: string): Markup | undefined {
  if (HTML.test(text)) {
    const title = textIn(TITLE, text)
    const named = title === undefined ? '' : ` ("${title}")`
    return { isPage: true, description: `an HTML page${named}, as a proxy or a login form gives` }
  }
  if (!XML.test(text)) return undefined
  const message = [textIn(CODE, text), textIn(MESSAGE, text)].filter((part) => part !== undefined).join(': ')
  const root = ROOT.exec(withoutDeclarations(text))?.[1]
  const about = message === '' ? (root === undefined ? '' : ` (<${root}>)`) : ` (${message})`
  return { isPage: false, description: `an XML document${about}` }
}

/**
 * Only up to the last closing character: an unclosed declaration would otherwise be searched to its
 * end from each of its starts.
 */
function withoutDeclarations(text: string): string {
  const end = text.lastIndexOf('>') + 1
  return text.slice(0, end).replaceAll(/<[?!][^>]*>/g, '') + text.slice(end)
}

function textIn(pattern: RegExp, text: string): string | undefined {
  const found = pattern
    .exec(text)?.[1]
    ?.replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ENTITIES[name] ?? '')
  return found?.trim() === '' ? undefined : found?.trim().replaceAll(/\s+/g, ' ')
}
