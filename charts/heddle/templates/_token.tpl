{{/* A fresh, well-formed token, like `heddle token new` makes: 30 random characters and their checksum. */}}
{{- define "heddle.newToken" -}}
{{- $secret := randAlphaNum 30 -}}
nbp_{{ $secret }}{{ include "heddle.checksum" $secret }}
{{- end -}}

{{/* The CRC-32 of a text as six characters of base 62. */}}
{{- define "heddle.checksum" -}}
{{- $digits := "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" -}}
{{- $rest := include "heddle.crc32" . | int64 -}}
{{- $text := "" -}}
{{- range until 6 -}}
{{- $at := mod $rest 62 | int -}}
{{- $text = printf "%s%s" (substr $at (int (add $at 1)) $digits) $text -}}
{{- $rest = div $rest 62 -}}
{{- end -}}
{{- $text -}}
{{- end -}}

{{/* The CRC-32 of a text as a number. */}}
{{- define "heddle.crc32" -}}
{{- $crc := int64 4294967295 -}}
{{- range $at := until (len .) -}}
{{- $crc = include "heddle.xor" (list $crc (index $ $at)) | int64 -}}
{{- range until 8 -}}
{{- $odd := mod $crc 2 -}}
{{- $crc = div $crc 2 -}}
{{- if $odd -}}{{- $crc = include "heddle.xor" (list $crc 3988292384) | int64 -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- sub 4294967295 $crc -}}
{{- end -}}

{{/* The exclusive or of two numbers of 32 bits, which templates do not have: bit by bit. */}}
{{- define "heddle.xor" -}}
{{- $left := index . 0 | int64 -}}
{{- $right := index . 1 | int64 -}}
{{- $bit := int64 1 -}}
{{- $result := int64 0 -}}
{{- range until 32 -}}
{{- if ne (mod $left 2) (mod $right 2) -}}{{- $result = add $result $bit -}}{{- end -}}
{{- $left = div $left 2 -}}
{{- $right = div $right 2 -}}
{{- $bit = mul $bit 2 -}}
{{- end -}}
{{- $result -}}
{{- end -}}
