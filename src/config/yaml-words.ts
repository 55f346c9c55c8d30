/** Descriptions of the YAML parser's error codes. Its own messages quote the file, which may hold a secret. */
const WORDS: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or a tag',
  BAD_ALIAS: 'an alias needs a name',
  BAD_COLLECTION_TYPE: 'the tag does not fit a list or a map',
  BAD_DIRECTIVE: 'a line that begins with `%` is not a known directive',
  BAD_DQ_ESCAPE: 'a text in double quotes has an unknown escape after `\\`',
  BAD_INDENT: 'the line is indented differently from the lines that it belongs to',
  BAD_PROP_ORDER: 'an anchor or a tag is misplaced',
  BAD_SCALAR_START: 'a text that begins with a reserved character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a list or a map is on the line of a key, or a text with `: ` needs quotes',
  BLOCK_IN_FLOW: 'an indented list or map is inside brackets',
  DUPLICATE_KEY: 'a duplicate key',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a quote, a bracket, a comma, a colon or a space is missing',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines; a colon may be missing',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_DOCS: 'the file has more than one document',
  MULTIPLE_TAGS: 'a value has two tags',
  TAB_AS_INDENT: 'a tab indents the line; YAML takes spaces only',
  TAG_RESOLVE_FAILED: 'a tag is unknown or does not fit its value',
  UNEXPECTED_TOKEN: 'an unexpected character',
}

/** Returns the description of a YAML parser's error code. */
export function wordsOfYaml(code: string): string {
  return WORDS[code] ?? 'it cannot be parsed'
}
