export { text } from './text'
export { findWords, firstLeads, groupOf, hits, leads, searchedTo } from './find-words'
export {
  beginContainers,
  containers,
  depth,
  isInText,
  lastBracket,
  readContainers,
  rest,
  textFrom,
} from './open-containers'
