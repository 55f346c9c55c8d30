import { lineNumbers } from './lossless/gutter.ts'
import type { ToolCall } from './tool-results.ts'

/** Words of a tool's name by which it reads a file, or shows changes of one. */
const READING = new Set(['read', 'view', 'cat', 'open', 'nl', 'diff', 'blame', 'contents', 'content', 'file'])
/** Commands of a shell that print a file or a change as it is, where a command begins. */
const SHELL_READER =
  /(?:^|[;&({"'`\n])\s*(?:sudo\s+)?(?:cat|head|tail|sed|awk|nl|less|more|bat|batcat|open|type|strings|diff|colordiff)\s|-exec\s+cat\s|\bxargs\s+(?:-\S+\s+)*(?:cat|head|tail)\b|\bgit\b[^\n;&|]*\s(?:show|diff|blame|log|cat-file|stash|format-patch)\b|\b(?:open|readFile|readFileSync|read_text|file_get_contents)\(|\bGet-Content\b/
/** Names of arguments in which a shell is given its command. */
const COMMANDS = ['command', 'cmd', 'script', 'code', 'args', 'commands']
/** A path to a file: with a folder before it or an ending, and no blank in it; an address of a site is none. */
const PATH = /^(?![a-z][\w+.-]*:\/\/(?<!file:\/\/))[^\s@]{0,300}?(?:[/\\][^\s/\\]+|[^\s/\\]\.[A-Za-z]\w{0,7})$/
const PATH_NAME = /^(?:file|path|file_?(?:path|name)|(?:absolute|relative|notebook|target|source)_?(?:path|file)|uri)$/i
/** The head of a hunk or of a file in a diff. */
const DIFF = /^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|--- [^\n]+\n\+\+\+ )/m
const LOOKED_AT = 2000

/**
 * Checks whether a result shows a file, or changes of one, as it is: by the tool's name, by its command, by an argument that is a
 * path, by line numbers or hunks in the text. An agent edits files by their exact text, so that layout which means nothing
 * anywhere else means something here.
 */
export function showsFile(call: Pick<ToolCall, 'name' | 'input'> | undefined, text: string): boolean {
  return (
    (call !== undefined && (isReader(call.name) || readsInShell(call.input) || hasPath(call.input))) ||
    looksLikeFile(text)
  )
}

function isReader(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').split(/[^A-Za-z]+| /)
  return words.some((word) => READING.has(word.toLowerCase()))
}

function readsInShell(input: ToolCall['input']): boolean {
  return COMMANDS.some((key) => {
    const given = input[key]
    if (typeof given === 'string') return SHELL_READER.test(given)
    return Array.isArray(given) && given.some((part) => typeof part === 'string' && SHELL_READER.test(part))
  })
}

function hasPath(input: ToolCall['input']): boolean {
  return Object.entries(input).some(
    ([key, value]) => typeof value === 'string' && value !== '' && (PATH_NAME.test(key) || PATH.test(value)),
  )
}

function looksLikeFile(text: string): boolean {
  const part = text.slice(0, LOOKED_AT)
  return DIFF.test(part) || (/^ *\d/m.test(part) && lineNumbers(part.split('\n')) !== undefined)
}
