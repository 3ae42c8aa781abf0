import { endsLikeSecret, isSecretName } from './secret-names.js'

/** The options by which programs take a password, where their names do not tell. */
const MYSQL = /(?:^|\/)(?:mysql\w*|mariadb[\w-]*|sshpass)$/
const CURL = /(?:^|\/)curl$/
const OPTION = /^--?[\w-]{1,80}$/
const USER_OPTION = /^(?:-u|--user|-U|--proxy-user)$/
/** Names, as in a list of required members; values mostly hold something else. */
const WORD = /^[A-Za-z_-]*$/

/** The place of a secret in a list, and the name that it goes by. */
export interface SecretElement {
  readonly index: number
  readonly name: string
}

/**
 * What is secret in a list for what is before it: the value in `["password", "…"]`, and in the arguments of a program `["--password", "…"]`,
 * `["curl", "-u", "ana:…"]` and `["mysql", "-p…"]`. Elements that are no text are undefined.
 */
export function secretElements(elements: readonly (string | undefined)[]): SecretElement[] {
  const found: SecretElement[] = []
  const [first = '', second] = elements
  if (elements.length === 2 && second !== undefined && endsLikeSecret(first) && !WORD.test(second))
    found.push({ index: 1, name: first })
  const takesPassword = MYSQL.test(first)
  const takesUser = CURL.test(first)
  elements.forEach((element, index) => {
    if (element === undefined || index === 0) return
    const before = elements[index - 1] ?? ''
    if (OPTION.test(before) && isValueOf(before, element, takesUser)) found.push({ index, name: before })
    else if (takesPassword && /^-p./.test(element)) found.push({ index, name: '-p' })
  })
  return found
}

function isValueOf(option: string, value: string, takesUser: boolean): boolean {
  if (takesUser && USER_OPTION.test(option)) return value.includes(':')
  return isSecretName(option) && !option.endsWith('-stdin') && !value.startsWith('-')
}
