import re
import time

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.cue_lists import CUE_LISTS, CUE_LISTS_VERSION
from ctxlab.cues import CUE_CLASSES, CUE_LISTS_SHA256, cues, language_of

LANGUAGES = ("en", "pt", "es", "de", "fr", "ru", "zh", "ja")

SENTENCES = {
    "en": {
        "constraint": [
            "The port must stay 8080.",
            "Use at most 90 requests per minute.",
            "Never touch /etc/hosts.",
            "Only admins may see this.",
            "It may take no more than five seconds.",
            "Don't delete the old rows.",
            "Nothing may be removed before Friday.",
            "Changes to basic economy flights are not permitted.",
            "You have to answer within a day.",
            "The deadline is May 3.",
        ],
        "rejection": [
            "We rejected Redlock.",
            "Use pgcopydb instead.",
            "That limit was wrong.",
            "We do not use FTP any more.",
            "The old value no longer holds.",
            "Correction: the port is 5433.",
            "We decided against Kafka.",
            "Actually, make it 5.",
            "This replaces the earlier plan.",
            "The first approach was abandoned.",
        ],
        "pending": [
            "The legal request is pending.",
            "The tests have not been run yet.",
            "We are still waiting for an answer.",
            "TODO: update the docs",
            "The replica still needs a rebuild.",
            "That point stays open.",
            "It remains to be decided.",
            "The job is not scheduled.",
        ],
        "decision": [
            "We decided to use SQLite.",
            "Agreed, pgcopydb it is.",
            "We'll use Parquet.",
            "They settled on version 2.",
            "The change was approved.",
            "I chose the second option.",
        ],
        "failure": [
            "The build failed.",
            "ERROR E1042 duplicate charge",
            "The worker crashed at night.",
            "It timed out after 30 s.",
            "The file was not found.",
            "There is a bug in retry.py.",
            "Access denied",
        ],
        "status": [
            "The migration is done.",
            "All tests passed.",
            "The fix is deployed.",
            "The limiter is now at 90.",
            "The order was cancelled.",
            "It is currently disabled.",
        ],
        "reason": [
            "We use it because it is fast.",
            "The root cause is a race.",
            "It failed due to a full disk.",
            "Therefore we moved on.",
            "That's why it is slow.",
        ],
    },
    "pt": {
        "constraint": ["O limite é de no máximo 90 por minuto.", "Nunca apague os dados.", "O prazo é sexta-feira."],
        "rejection": ["Rejeitamos o Redis.", "Use SFTP em vez de FTP.", "Correção: a porta é 5433.", "O valor estava errado."],
        "pending": ["O pedido está pendente.", "Os testes ainda não rodaram.", "Falta a assinatura."],
        "decision": ["Decidimos usar SQLite.", "Ficou combinado assim.", "Vamos usar o Parquet."],
        "failure": ["O teste falhou.", "Ocorreu um erro.", "Não foi possível abrir o arquivo."],
        "status": ["A migração foi concluída.", "O serviço está funcionando."],
        "reason": ["Fizemos isso porque é rápido.", "O motivo é o disco cheio.", "Por isso mudamos."],
    },
    "es": {
        "constraint": ["Debe quedar abierto.", "Como máximo 90 por minuto.", "Nunca borres los datos."],
        "rejection": ["Rechazamos Redis.", "Usa SFTP en vez de FTP.", "El valor era incorrecto.", "Ya no vale."],
        "pending": ["La solicitud está pendiente.", "Todavía no se ha probado.", "Falta la firma."],
        "decision": ["Decidimos usar SQLite.", "Estamos de acuerdo."],
        "failure": ["La prueba falló.", "Hubo un error.", "No se pudo abrir el archivo."],
        "status": ["La migración está terminada.", "El servicio funciona."],
        "reason": ["Porque es rápido.", "El motivo es el disco lleno.", "Por eso cambiamos."],
    },
    "de": {
        "constraint": ["Der Port muss 8080 bleiben.", "Höchstens 90 pro Minute.", "Das darf nicht gelöscht werden.", "Nie löschen!"],
        "rejection": ["Redlock wurde verworfen.", "Statt FTP nehmen wir SFTP.", "Der Wert war falsch.", "Das gilt nicht mehr."],
        "pending": ["Die Unterschrift fehlt noch.", "Der Test ist noch nicht gelaufen.", "Wir warten auf Antwort."],
        "decision": ["Wir haben uns für SQLite entschieden.", "So wurde es vereinbart."],
        "failure": ["Der Test ist fehlgeschlagen.", "Es gab einen Fehler.", "Der Dienst ist abgestürzt."],
        "status": ["Die Migration ist abgeschlossen.", "Der Dienst läuft."],
        "reason": ["Weil es schnell ist.", "Die Ursache ist ein voller Datenträger.", "Deshalb haben wir gewechselt."],
    },
    "fr": {
        "constraint": ["Le port doit rester 8080.", "Au plus 90 par minute.", "Il ne faut jamais effacer.", "C'est interdit."],
        "rejection": ["Nous avons rejeté Redlock.", "Utilisez SFTP au lieu de FTP.", "La valeur était fausse.", "Ce n'est plus valable."],
        "pending": ["La demande est en attente.", "Le test n'est pas encore passé.", "Il reste la signature."],
        "decision": ["Nous avons décidé d'utiliser SQLite.", "C'est convenu."],
        "failure": ["Le test a échoué.", "Il y a une erreur.", "Le fichier est introuvable."],
        "status": ["La migration est terminée.", "Le service fonctionne."],
        "reason": ["Parce que c'est rapide.", "C'est à cause du disque.", "C'est pourquoi nous avons changé."],
    },
    "ru": {
        "constraint": ["Порт должен остаться 8080.", "Не более 90 в минуту.", "Никогда не удаляйте данные."],
        "rejection": ["Мы отказались от Redis.", "Используйте SFTP вместо FTP.", "Значение было неверным.", "Это больше не действует."],
        "pending": ["Тесты ещё не запущены.", "Ждём ответа.", "Осталось подписать."],
        "decision": ["Мы решили использовать SQLite.", "Договорились."],
        "failure": ["Тест завершился ошибкой.", "Сервис упал.", "Файл не найден."],
        "status": ["Миграция завершена.", "Сервис работает."],
        "reason": ["Потому что это быстро.", "Причина в диске.", "Поэтому мы перешли."],
    },
    "zh": {
        "constraint": ["端口必须是 8080。", "每分钟最多 90 次。", "不要删除旧数据。"],
        "rejection": ["我们否决了 Redlock。", "改用 SFTP。", "之前的限制是错的。", "不再使用 FTP。"],
        "pending": ["申请待批。", "测试还没跑。", "尚未签字。"],
        "decision": ["我们决定使用 SQLite。", "已经商定。"],
        "failure": ["测试失败。", "服务崩溃了。", "找不到文件。"],
        "status": ["迁移已完成。", "服务运行中。"],
        "reason": ["因为速度快。", "原因是磁盘已满。", "所以我们换了。"],
    },
    "ja": {
        "constraint": ["ポートは8080でなければなりません。", "最大で毎分90回です。", "削除しないでください。"],
        "rejection": ["Redlockは却下しました。", "代わりにSFTPを使います。", "前の値は間違いでした。", "FTPはもう使いません。"],
        "pending": ["承認待ちです。", "テストはまだです。", "署名が残っています。"],
        "decision": ["SQLiteを使うことにしました。", "そう決定しました。"],
        "failure": ["テストが失敗しました。", "エラーが出ました。", "ファイルが見つかりません。"],
        "status": ["移行は完了しました。", "サービスは稼働中です。"],
        "reason": ["速いからです。", "原因はディスクです。", "そのため変更しました。"],
    },
}  # fmt: skip

TABLE = [(lang, cue, text) for lang, by in SENTENCES.items() for cue, texts in by.items() for text in texts]


# covers STR-077, STR-163
@pytest.mark.parametrize(("language", "cue", "text"), TABLE, ids=lambda value: value)
def test_natural_sentences_hold_their_cue_with_the_language_known_or_not(language, cue, text):
    assert cue in cues(text, language=language)
    assert cue in cues(text)


# covers STR-163
@pytest.mark.parametrize(
    "text",
    [
        "The door is blue.",
        "Hello, how can I help?",
        "Notes on mustard, shallots and onlyness",  # parts of words are no words
        "A sole trader sold plus sizes, also a car.",
        "I don't know",
        "Meetings deserve the same care as code.",
        "",
        "… !? 123 日本",
    ],
)
def test_sentences_that_say_nothing_of_the_kind_hold_no_cue(text):
    assert cues(text) == frozenset()


# covers STR-077
@pytest.mark.parametrize(
    ("tag", "found"),
    [("en", False), ("de", True), ("de-AT", True), ("DE", True), (None, True), ("it", True), ("code", True)],
)
def test_a_tag_chooses_its_list_and_without_a_list_all_apply(tag, found):
    assert ("constraint" in cues("Der Port muss offen sein.", language=tag)) == found


# covers STR-163
@pytest.mark.parametrize(
    "text", ["DON’T delete it", "don't delete it", "Das muß so sein", "MUSS", "Déjà réjeté? Rejeté"]
)
def test_case_and_the_shape_of_apostrophes_make_no_difference(text):
    assert cues(text)


# covers STR-163
def test_a_letter_with_its_accent_apart_is_the_same_letter():
    assert cues("Ja\u0301 na\u0303o usamos") == cues("Já não usamos") != frozenset()


# covers STR-163
def test_a_phrase_of_the_beginning_counts_there_only():
    assert "rejection" in cues("Actually, port 5433.")
    assert "rejection" not in cues("What did it actually say?")


# covers STR-077, STR-163
def test_every_language_has_a_list_for_every_class():
    assert tuple(CUE_LISTS) == LANGUAGES
    assert CUE_CLASSES == ("constraint", "rejection", "pending", "decision", "failure", "status", "reason")
    for lists in CUE_LISTS.values():
        assert set(lists) == set(CUE_CLASSES)
        assert all(phrase.strip() == phrase != "" for text in lists.values() for phrase in text.split("|"))


# covers STR-163
def test_every_phrase_of_a_list_is_found_in_its_language():
    for language, lists in CUE_LISTS.items():
        for cue, text in lists.items():
            for phrase in text.split("|"):
                assert cue in cues(phrase.strip("^").replace("*", "a"), language=language), (language, phrase)


# covers STR-160, STR-163
def test_the_lists_have_a_version_and_a_hash():
    assert CUE_LISTS_VERSION == 1
    assert re.fullmatch("[0-9a-f]{64}", CUE_LISTS_SHA256)
    assert language_of("pt-BR") == "pt"
    assert language_of("xx") is None


# covers STR-163
@given(texts=st.lists(st.sampled_from([text for _, _, text in TABLE]), min_size=1, max_size=4))
@settings(max_examples=50, deadline=None)
def test_a_text_holds_the_cues_of_its_sentences(texts):
    # what counts only at the beginning of a text is the one thing that a longer text may lose
    later = frozenset().union(*(cues("x " + text) for text in texts[1:]))
    assert cues(". ".join(texts)) >= cues(texts[0]) | later


# covers STR-160
@pytest.mark.parametrize("unit", ["not ", "no more than ", "必须", "a", "must ", "'", "no no more "])
def test_time_is_proportional_to_the_text(unit):
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    cues(text)
    assert time.process_time() - start < 2
