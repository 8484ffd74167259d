"""Ten kinds of edits of C and C++ sources that leave the failure as it is.

They work on text, so they are simple ones: what they do to a program is what people do to one between two versions,
not what a compiler would call the same program."""
import re, subprocess

KINDS = ['added_lines', 'moved_functions', 'renamed_locals', 'formatted', 'extracted_function', 'optimisation', 'comments',
         'unrelated_function', 'logging', 'renamed_file']


def blank(text):
    """The text with comments and literals blanked out, so that positions stay."""
    def spaces(match):
        return re.sub(r'[^\n]', ' ', match.group())
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text, flags=re.S)


def last_include(text):
    ends = [m.end() for m in re.finditer(r'^#\s*include[^\n]*\n', text, re.M)]
    return ends[-1] if ends else 0


def functions(text):
    """(start, body start, end) of functions at the top level: the line before '{' ends with ')'."""
    code, found = blank(text), []
    for match in re.finditer(r'^(?!#|namespace|struct|class|enum|union|using|typedef|extern|template)[^\n;{}#]*\([^;{}]*\)[^;{}()=]*\{', code, re.M):
        depth, at = 1, match.end()
        while at < len(code) and depth:
            depth += {'{': 1, '}': -1}.get(code[at], 0)
            at += 1
        found.append((match.start(), match.end(), at))
    return found


def added_lines(text, name):
    at = last_include(text)
    text = text[:at] + '\n\n\n#include <stddef.h>\n\n' + text[at:]
    for start, body, end in reversed(functions(text)):
        if 'constexpr' in text[start:body]:
            continue
        text = text[:body] + '\n\n  (void)0;\n' + text[body:]
    return text, [], name


def prototype(text, start, body):
    head = ' '.join(blank(text[start:body - 1]).split())
    return head if re.match(r'^(static )?(inline )?[\w:<>\*& ]+ \**&?\w+\([^()]*\)$', head) and 'constexpr' not in head \
        and '=' not in head and 'auto' not in head and 'main(' not in head else None


def moved_functions(text, name):
    """Each function that needs nothing but its prototype is moved to the end, in reverse."""
    moved = []
    for start, body, end in reversed(functions(text)):
        head = prototype(text, start, body)
        if head is None or 'noreturn' in head or text[start].isspace():  # not one of a class
            continue
        moved.append(text[start:end])
        text = text[:start] + head + ';' + text[end:]
    return text + '\n' + '\n\n'.join(moved) + '\n', [], name


def renamed_locals(text, name):
    for start, body, end in reversed(functions(text)):
        code = blank(text)[body:end]
        names = set(re.findall(r'\b(?:int|long|bool|auto|char|double|unsigned|size_t|int64_t|uint64_t)\s+\**&?(\w+)\s*(?:=[^=]|;)', code))
        for one in names:
            if re.search(r'(\.|->)\s*' + one + r'\b', blank(text)) or re.search(r'\bstatic\b[^;\n]*\b' + one + r'\b', code):
                continue
            part = text[body:end]
            part = re.sub(r'\b' + one + r'\b', one + '_now', part)
            text = text[:body] + part + text[end:]
            end = body + len(part)
    return text, [], name


def formatted(text, name):
    style = '{BasedOnStyle: GNU, ColumnLimit: 50, SortIncludes: Never, BinPackArguments: false, IndentWidth: 7}'
    return subprocess.run(['clang-format-19', f'--style={style}', f'--assume-filename={name}'], input=text, text=True,
                          capture_output=True, check=True).stdout, [], name


def extracted_function(text, name):
    """In each function, the first statement that only touches globals becomes a function."""
    code = blank(text)
    names = set(re.findall(r'^(?:static\s+)?(?:volatile\s+)?(?:std::atomic<\w+>|int|long|bool|unsigned|char)\s+(\w+)\s*(?:=[^;]*|\{[^;]*\})?;', code, re.M))
    count, pieces = 0, []
    for start, body, end in reversed(functions(text)):
        for match in re.finditer(r'\n(\s+)((\w+)(\s*[-+]?=\s*[\w\s+-]+|\+\+|--|\.\w+\([\w\s]*\))\s*;)', text[body:end]):
            words = set(re.findall(r'[A-Za-z_]\w*', re.sub(r'\.\w+', '', match.group(2)))) - {'true', 'false', 'NULL', 'nullptr'}
            if not words or not words <= names:
                continue
            count += 1
            at = body + match.start()
            function = f'extracted_{count}'
            pieces.append((start, f'static void {function}() {{\n  {match.group(2)}\n}}\n\n' if not name.endswith('.c') else
                           f'static void {function}(void) {{\n  {match.group(2)}\n}}\n\n'))
            text = text[:at] + f'\n{match.group(1)}{function}();' + text[body + match.end():]
            break
    for start, piece in pieces:  # descending: earlier positions stay
        text = text[:start] + piece + text[start:]
    return text, [], name


def optimisation(text, name):
    return text, ['-O0'], name


def comments(text, name):
    result = []
    for line in text.split('\n'):
        if line.rstrip().endswith(';') and not line.lstrip().startswith(('//', '#', '*')) and '"' not in line:
            line += '  // as before /* really */'
            result.append('  /* the next line; { does what it says } */' if not result or not result[-1].endswith('\\') else '')
        result.append(line)
    return '\n'.join(result), [], name


def unrelated_function(text, name):
    at = last_include(text)
    extra = ('\nint unrelated_value = 0;\nint unrelated_sum(int n) {\n  int total = 0;\n  for (int i = 0; i < n; i++) {\n'
             '    total += i;\n  }\n  unrelated_value = total;\n  return total;\n}\n')
    return text[:at] + extra + text[at:], [], name


def logging(text, name):
    """The first thing that each function does is to write a line."""
    at = last_include(text)
    text = text[:at] + '#include <stdio.h>\n' + text[at:]
    for start, body, end in reversed(functions(text)):
        if 'constexpr' in text[start:body] or 'handler' in text[start:body]:
            continue
        text = text[:body] + '\n  fprintf(stderr, "enter %d\\n", __LINE__);' + text[body:]
    return text, [], name


def renamed_file(text, name):
    """Another file, and the first class has another name."""
    match = re.search(r'^(?:class|struct)\s+(\w+)\s*[{:]', blank(text), re.M)
    if match:
        text = re.sub(r'\b' + match.group(1) + r'\b', 'New' + match.group(1), text)
    return text, [], 'renamed_' + name


def apply(kind, text, name):
    return globals()[kind](text, name)
